package host

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// anyGraph draws up to n instances that require each other at random.
func anyGraph(t *rapid.T, n int) graph {
	g := graph{}
	for a := range rapid.IntRange(1, n).Draw(t, "instances") {
		g[fmt.Sprint(a)] = nil
	}
	for _, a := range keys(g) {
		for _, b := range keys(g) {
			if a != b && rapid.IntRange(0, 3).Draw(t, a+" requires "+b) == 0 {
				g[a] = append(g[a], b)
			}
		}
	}
	return g
}

// TestGraph: a path is one, and everybody ends: after those that require it,
// unless they are in a circle with it.
func TestGraph(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := anyGraph(t, 8)
		reach := closure(g)
		for _, a := range keys(g) {
			for _, b := range keys(g) {
				way := g.path(a, b)
				if (way != nil) != reach[a][b] {
					t.Fatalf("from %s to %s: %v", a, b, way)
				}
				for n := range max(0, len(way)-1) {
					if !slices.Contains(g[way[n]], way[n+1]) {
						t.Fatalf("%v is no way", way)
					}
				}
				if way != nil && (way[0] != a || way[len(way)-1] != b) {
					t.Fatalf("%v is no way from %s to %s", way, a, b)
				}
			}
		}
		ended := map[string]bool{}
		for len(ended) < len(g) {
			before := len(ended)
			for _, a := range keys(g) {
				if !slices.ContainsFunc(g.dependents(a), func(d string) bool { return !ended[d] }) {
					ended[a] = true
				}
			}
			if len(ended) == before {
				t.Fatalf("these wait for each other for ever; ended have %v", keys(ended))
			}
		}
		for _, a := range keys(g) {
			for _, b := range g[a] {
				if circle := reach[b][a]; slices.Contains(g.dependents(b), a) == circle {
					t.Fatalf("%s requires %s, circle %v, and ends before: %v", a, b, circle, !circle)
				}
			}
		}
	})
}

// closure says who reaches whom in one step or more, by another algorithm.
func closure(g graph) map[string]map[string]bool {
	reach := map[string]map[string]bool{}
	for a := range g {
		reach[a] = map[string]bool{}
		for _, b := range g[a] {
			reach[a][b] = true
		}
	}
	for via := range g {
		for a := range g {
			for b := range g {
				reach[a][b] = reach[a][b] || reach[a][via] && reach[via][b]
			}
		}
	}
	return reach
}
