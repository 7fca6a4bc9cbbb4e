package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/fact"
)

// manyFacts is a plugin that knows so many facts of whoever works at this machine.
func manyFacts(b *testing.B, n int) (*memory, sdk.Run) {
	b.Helper()
	m := newMemory()
	o := m.index.of(sdk.LocalOwner)
	o.read = true
	for i := range n {
		f, err := fact.New(fmt.Sprintf("key %d", i), fmt.Sprintf("value %d of %d, with some words more about what it is", i, n), fact.About{Source: fact.Auto, Seen: time.Unix(int64(i*7919%n), 0)})
		if err != nil {
			b.Fatal(err)
		}
		o.put(f)
	}
	return m, sdk.Run{ID: 1, Key: "bench", Origin: sdk.Origin{Owner: sdk.LocalOwner}}
}

// BenchmarkPart is what is told of 10,000 facts, made anew: the goal is 10 ms.
func BenchmarkPart(b *testing.B) {
	m, run := manyFacts(b, 10_000)
	for b.Loop() {
		m.parts.forget(run.ID)
		if text, err := m.partOf(b.Context(), run, 0); err != nil || len(text) > mostTokens*bytesOfToken || text == "" {
			b.Fatalf("%d bytes, %v", len(text), err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N), "ms/part")
}

// BenchmarkTurn is what the filter does in each turn, with 10,000 facts: the goal is 0.5 ms. The way to the plugin and back, that of
// any filter, is not part of it.
func BenchmarkTurn(b *testing.B) {
	m, run := manyFacts(b, 10_000)
	p := sdk.Prompt{Run: run, System: strings.Repeat("You are an agent. ", 500)}
	value, err := json.Marshal(p)
	if err != nil {
		b.Fatal(err)
	}
	hooks := m.hooks()
	for b.Loop() {
		if _, err := hooks.Filter(b.Context(), "assembly.system", value); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N), "ms/turn")
}

// BenchmarkRecall finds facts among 10,000 by words: the goal for the 99th of 100 is 10 ms.
func BenchmarkRecall(b *testing.B) {
	m, run := manyFacts(b, 10_000)
	facts, err := m.index.load(b.Context(), run.Owner)
	if err != nil {
		b.Fatal(err)
	}
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		began := time.Now()
		if found := facts.search(fmt.Sprintf("VALUE %d words", i%10_000)); len(found) == 0 {
			b.Fatal("nothing is found")
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "ms-p99")
}
