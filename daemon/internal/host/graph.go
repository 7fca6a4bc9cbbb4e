package host

import "slices"

// graph says which instances each instance requires.
type graph map[string][]string

// path is a way from one instance to another along what they require, both
// included; nil when there is none. A way from an instance to itself has at
// least one step.
func (g graph) path(from, to string) []string {
	came := map[string]string{}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		for _, next := range g[queue[0]] {
			if _, seen := came[next]; seen {
				continue
			}
			came[next] = queue[0]
			if next != to {
				queue = append(queue, next)
				continue
			}
			way := []string{to}
			for at := came[to]; at != from; at = came[at] {
				way = append(way, at)
			}
			way = append(way, from)
			slices.Reverse(way)
			return way
		}
	}
	return nil
}

// dependents are the instances that end before one does: those that require it.
// In a circle nobody is before another.
func (g graph) dependents(of string) []string {
	var list []string
	for _, name := range keys(g) {
		if slices.Contains(g[name], of) && name != of && g.path(of, name) == nil {
			list = append(list, name)
		}
	}
	return list
}
