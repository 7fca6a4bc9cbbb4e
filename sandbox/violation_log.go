package sandbox

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// violationLogName is the file in a run's directory that says what was done about
// the violations of the last commands. Whoever asks again how a command ended is
// answered from it: the first answer may be lost with the manager that found them.
const violationLogName = "violations.json"

// violationLogCap is how many calls the log holds, as many as a runner remembers
// the results of.
const violationLogCap = 8

// loggedCall is a row of the log: the violations of one call's command.
type loggedCall struct {
	Call       string      `json:"call"`
	Violations []Violation `json:"violations"`
}

// loggedViolations are the violations that the log has of a call.
func (k *violationGuard) loggedViolations(call string) []Violation {
	for _, n := range k.readViolationLog() {
		if n.Call == call && call != "" {
			return n.Violations
		}
	}
	return nil
}

func (k *violationGuard) readViolationLog() []loggedCall {
	data, err := os.ReadFile(filepath.Join(k.runDir, violationLogName))
	if err != nil {
		return nil
	}
	var all []loggedCall
	if json.Unmarshal(data, &all) != nil {
		return nil
	}
	return all
}

// logViolations replaces what the log has of a call.
func (k *violationGuard) logViolations(call string, violations []Violation) error {
	all := slices.DeleteFunc(k.readViolationLog(), func(n loggedCall) bool { return n.Call == call })
	if len(violations) > 0 {
		all = append(all, loggedCall{Call: call, Violations: violations})
	}
	data, err := json.Marshal(all[max(0, len(all)-violationLogCap):])
	if err != nil {
		return err
	}
	path := filepath.Join(k.runDir, violationLogName)
	if err := os.WriteFile(path+".new", data, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// violationLog writes down the violations of one command while they are being found.
type violationLog struct {
	guard *violationGuard
	call  string
	// earlier are the violations that a manager logged which died before it had
	// undone all.
	earlier func() []Violation
	begun   []Violation
}

func (k *violationGuard) violationLog(call string) *violationLog {
	return &violationLog{guard: k, call: call, earlier: sync.OnceValue(func() []Violation { return k.loggedViolations(call) })}
}

// about logs a path before the change there is undone: without that a manager
// that is killed in between would leave no trace of the violation.
func (n *violationLog) about(path string) {
	n.begun = append(n.begun, Violation{Path: path, Action: ActionReported, Detail: "it was being undone when the sandbox's owner died"})
	n.write(n.begun)
}

// close logs what was done in the end.
func (n *violationLog) close(done []Violation) {
	if len(done) > 0 || len(n.begun) > 0 {
		n.write(done)
	}
}

func (n *violationLog) write(found []Violation) {
	if n.call == "" {
		return
	}
	all := slices.Clone(found)
	for _, v := range n.earlier() {
		if !slices.ContainsFunc(found, func(f Violation) bool { return f.Path == v.Path }) {
			all = append(all, v)
		}
	}
	// When the log cannot be written, only a second answer about the call lacks them.
	_ = n.guard.logViolations(n.call, all)
}
