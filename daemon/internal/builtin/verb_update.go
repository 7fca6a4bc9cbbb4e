package builtin

import (
	"encoding/json"
	"slices"

	"github.com/bothyd/bothy/sdk"
)

// update says how far the work has come: the entry update://turn_N, of which the last
// word of the turn stays.
func (p *plan) update(c sdk.EntryCall) (step, error) {
	if c.Status == 0 {
		c.Status = sdk.StatusRunning
	}
	if !slices.Contains([]int{sdk.StatusRunning, sdk.StatusOK, sdk.StatusNoContent, sdk.StatusUnable}, c.Status) {
		return step{}, sdk.Errorf(sdk.Validation, "there is no update with the status %d: 102 goes on, 200 is done, 204 is done without a result, 422 cannot be done", c.Status)
	}
	path := sdk.UpdatePath(p.use.Turn)
	if err := p.changes(path); err != nil {
		return step{}, err
	}
	if _, err := p.find(path); err != nil {
		return step{}, err
	}
	status, err := json.Marshal(map[string]int{"status": c.Status})
	if err != nil {
		return step{}, err
	}
	w := p.write(path)
	if w.Body = c.Body; w.Body == nil {
		w.Body = new(string)
	}
	w.Attributes = patched(c.Attributes, status)
	w.State, w.Visibility = sdk.StateResolved, sdk.Visible
	s := step{writes: []sdk.Write{w}, paths: []string{path}}
	if s.done.Text = *w.Body; s.done.Text == "" && c.Status == sdk.StatusRunning {
		s.done.Text = "noted" // to the model, which goes on: one that ends the work is the answer to the person
	}
	return s, nil
}
