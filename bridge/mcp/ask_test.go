package main

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"
)

// TestAnswersCountOnce: an answer is good once, in its time, and for the call that was asked about.
func TestAnswersCountOnce(t *testing.T) {
	var p pending
	now := time.Now()
	arguments := json.RawMessage(`{"path":"x", "n":1}`)
	ask := func() string { return p.keep(question{tool: "write_file", arguments: arguments}, now) }
	for name, c := range map[string]struct {
		tool, arguments string
		at              time.Duration
		is              bool
	}{
		"the same":        {"write_file", `{"n":1,"path":"x"}`, 0, true},
		"another tool":    {"delete_path", `{"path":"x","n":1}`, 0, false},
		"other arguments": {"write_file", `{"path":"y","n":1}`, 0, false},
		"too late":        {"write_file", `{"path":"x","n":1}`, pendingFor + time.Second, false},
	} {
		id := ask()
		if _, is := p.take(id, c.tool, json.RawMessage(c.arguments), now.Add(c.at)); is != c.is {
			t.Errorf("%s: %v", name, is)
		}
		if _, again := p.take(id, c.tool, json.RawMessage(c.arguments), now.Add(c.at)); again {
			t.Errorf("%s: twice", name)
		}
	}
	if _, is := p.take("made up", "write_file", arguments, now); is {
		t.Error("an answer to nothing counts")
	}
}

// TestQuestionsAreFew: however many are asked and never answered.
func TestQuestionsAreFew(t *testing.T) {
	var p pending
	now := time.Now()
	first := p.keep(question{tool: "t"}, now)
	last := ""
	for i := range 10 * mostPending {
		last = p.keep(question{tool: fmt.Sprint(i)}, now.Add(time.Duration(i+1)*time.Millisecond))
	}
	if len(p.all) > mostPending {
		t.Errorf("%d are kept", len(p.all))
	}
	if _, is := p.all[first]; is {
		t.Error("the oldest is kept")
	}
	if _, is := p.all[last]; !is {
		t.Error("the newest is not kept")
	}
	p.keep(question{}, now.Add(time.Hour))
	if len(p.all) != 1 {
		t.Errorf("%d are kept after their time", len(p.all))
	}
}
