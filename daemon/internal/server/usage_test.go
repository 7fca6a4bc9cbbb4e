package server

import (
	"context"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

func TestUsage(t *testing.T) {
	h := open(t, nil)
	noon := time.Date(2026, 1, 31, 12, 0, 0, 0, time.Local)
	used := func(days int, project, run int64, model string, u *sdk.Usage) sdk.Used {
		return sdk.Used{Time: noon.AddDate(0, 0, days), Project: project, Run: run, Model: model, Usage: u}
	}
	of := func(prompt int, cost *float64) *sdk.Usage {
		return &sdk.Usage{Prompt: prompt, Completion: 1, Cost: cost}
	}
	h.store.used = []sdk.Used{
		used(0, 1, 7, "a", of(10, new(1.0))),
		used(0, 1, 99, "b", of(20, nil)), // of a run that was deleted
		used(1, 2, 8, "a", &sdk.Usage{Prompt: 5, Completion: 1, Cost: new(2.0), Estimated: true}),
		used(1, 2, 8, "b", nil),
		used(1, 2, 8, "local", of(1, new(0.0))),
	}
	for _, c := range []struct {
		params rpc.UsageParams
		want   []rpc.UsageRow
	}{
		{rpc.UsageParams{}, []rpc.UsageRow{{Day: "2026-01-31"}, {Day: "2026-02-01"}}},
		{rpc.UsageParams{By: "day", Since: noon.AddDate(0, 0, 1)}, []rpc.UsageRow{{Day: "2026-02-01"}}},
		{rpc.UsageParams{By: "model"}, []rpc.UsageRow{{Model: "a"}, {Model: "b"}, {Model: "local"}}},
		{rpc.UsageParams{By: "project"}, []rpc.UsageRow{{Project: "/p/two"}, {Project: "/p/one"}}},
		{rpc.UsageParams{By: "run"}, []rpc.UsageRow{{RunID: 8, Run: "seven", Project: "/p/two"}, {RunID: 7, Run: "seven", Project: "/p/one"}, {RunID: 99, Project: "/p/one"}}},
		{rpc.UsageParams{By: "run", Project: "/p/one"}, []rpc.UsageRow{{RunID: 7, Run: "seven", Project: "/p/one"}, {RunID: 99, Project: "/p/one"}}},
		{rpc.UsageParams{Project: "/p/unknown"}, []rpc.UsageRow{}},
	} {
		got, err := h.client(t).Usage(context.Background(), c.params)
		if err != nil || len(got.Rows) != len(c.want) {
			t.Errorf("%+v: %+v %v", c.params, got, err)
			continue
		}
		for i, row := range got.Rows {
			row.UsageSum = rpc.UsageSum{}
			if row != c.want[i] {
				t.Errorf("%+v: row %d is %+v, want %+v", c.params, i, row, c.want[i])
			}
		}
	}
	all, err := h.client(t).Usage(context.Background(), rpc.UsageParams{By: "model"})
	if s := all.All; err != nil || s.Requests != 5 || s.Untold != 1 || s.Unpriced != 2 || s.Estimated != 1 || s.Prompt != 36 || s.Completed != 4 || s.Cost == nil || *s.Cost != 3 {
		t.Errorf("%+v %v", all.All, err)
	}
	if b := all.Rows[1]; b.Requests != 2 || b.Cost != nil {
		t.Errorf("what nobody knows has a cost: %+v", b)
	}
	if _, err := h.client(t).Usage(context.Background(), rpc.UsageParams{By: "week"}); err == nil {
		t.Error("there is a usage by week")
	}
}
