package sandbox

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// notedName is the file in a run's directory with what was done about the
// violations of its last commands, for who asks again how a command ended: the
// answer may have died with the manager that looked at the project.
const notedName = "violations.json"

// notedCalls is as many as a runner holds the ends of.
const notedCalls = 8

// noted are the violations of one call's command.
type noted struct {
	Call       string      `json:"call"`
	Violations []Violation `json:"violations"`
}

// noted are the violations that are noted for a call.
func (k *keeper) noted(call string) []Violation {
	for _, n := range k.allNoted() {
		if n.Call == call && call != "" {
			return n.Violations
		}
	}
	return nil
}

func (k *keeper) allNoted() []noted {
	data, err := os.ReadFile(filepath.Join(k.runDir, notedName))
	if err != nil {
		return nil
	}
	var all []noted
	if json.Unmarshal(data, &all) != nil {
		return nil
	}
	return all
}

// note replaces what is noted for a call.
func (k *keeper) note(call string, violations []Violation) error {
	all := slices.DeleteFunc(k.allNoted(), func(n noted) bool { return n.Call == call })
	if len(violations) > 0 {
		all = append(all, noted{Call: call, Violations: violations})
	}
	data, err := json.Marshal(all[max(0, len(all)-notedCalls):])
	if err != nil {
		return err
	}
	path := filepath.Join(k.runDir, notedName)
	if err := os.WriteFile(path+".new", data, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// notes are the violations of one command while they are being found.
type notes struct {
	keeper *keeper
	call   string
	// earlier were noted by a manager that died before it had undone all.
	earlier func() []Violation
	begun   []Violation
}

func (k *keeper) notes(call string) *notes {
	return &notes{keeper: k, call: call, earlier: sync.OnceValue(func() []Violation { return k.noted(call) })}
}

// about notes a path before anything is done about it: whoever is killed in
// between leaves a project that nobody could tell was violated.
func (n *notes) about(path string) {
	n.begun = append(n.begun, Violation{Path: path, Action: ActionReported, Detail: "it was being undone when the sandbox's owner died"})
	n.write(n.begun)
}

// close notes what was done in the end.
func (n *notes) close(done []Violation) {
	if len(done) > 0 || len(n.begun) > 0 {
		n.write(done)
	}
}

func (n *notes) write(found []Violation) {
	if n.call == "" {
		return
	}
	all := slices.Clone(found)
	for _, v := range n.earlier() {
		if !slices.ContainsFunc(found, func(f Violation) bool { return f.Path == v.Path }) {
			all = append(all, v)
		}
	}
	// Without the note only a second answer about the call lacks them.
	_ = n.keeper.note(n.call, all)
}
