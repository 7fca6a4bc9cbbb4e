package sandbox

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
)

// interrupted is written before a command and removed after it: when it is
// found, a manager died in between, and nobody looked at the project since.
type interrupted struct {
	Run          string       `json:"run,omitempty"`
	Call         string       `json:"call,omitempty"`
	Project      string       `json:"project"`
	Watch        []watched    `json:"watch"`
	Git          bool         `json:"git,omitempty"`
	Repositories []repository `json:"repositories,omitempty"`
}

const interruptedName = "command.json"

func (k *violationGuard) begin(g *guarded, run, call string) error {
	data, err := json.Marshal(interrupted{Run: run, Call: call, Project: g.project, Watch: g.watch, Git: g.git, Repositories: g.repositories})
	if err != nil {
		return failed("note the command", err)
	}
	if err := os.WriteFile(filepath.Join(k.runDir, interruptedName), data, 0o600); err != nil {
		return failed("note the command", err)
	}
	return nil
}

func (k *violationGuard) end() {
	_ = os.Remove(filepath.Join(k.runDir, interruptedName))
}

// Recover takes back what a command planted on protected paths whose manager
// died under it, so that nobody has to wait for the run's next command. Call it
// for a run that has no container; [Open] does it for those that it takes over.
func Recover(runDir string, by Protector) []Violation {
	return newViolationGuard(runDir, newProjects(by)).recover()
}

// Interrupted finds, among run directories, those whose last command was
// interrupted: they need [Recover].
func Interrupted(runDirs []string) []string {
	return slices.DeleteFunc(slices.Clone(runDirs), func(dir string) bool {
		_, err := os.Lstat(filepath.Join(dir, interruptedName))
		return err != nil
	})
}

// recover does what a manager that died could not: it looks at the project
// after a command that was running then.
func (k *violationGuard) recover() []Violation {
	data, err := os.ReadFile(filepath.Join(k.runDir, interruptedName))
	if err != nil {
		return nil
	}
	var was interrupted
	if json.Unmarshal(data, &was) != nil || !filepath.IsAbs(was.Project) ||
		slices.ContainsFunc(was.Watch, func(w watched) bool { return !filepath.IsLocal(w.Path) }) {
		k.end()
		return nil
	}
	done := k.after(&guarded{
		protection: &protection{project: was.Project, watch: was.Watch, git: was.Git, repositories: was.Repositories},
		shared:     newProject(k.projects.protector),
	}, was.Call, false)
	k.end()
	return done
}

// interruptedRun names the run of a directory whose last command was
// interrupted.
func interruptedRun(runDir string) (string, bool) {
	var was interrupted
	data, err := os.ReadFile(filepath.Join(runDir, interruptedName))
	if err != nil || json.Unmarshal(data, &was) != nil || ValidRunID(was.Run) != nil {
		return "", false
	}
	return was.Run, true
}

// Recover is [Recover] for the runs of this manager: a command that the run
// has begun since is none of its business.
func (m *Manager) Recover(ctx context.Context, runDir string) ([]Violation, error) {
	if err := m.enter(); err != nil {
		return nil, err
	}
	defer m.active.Done()
	id, ok := interruptedRun(runDir)
	if !ok {
		return Recover(runDir, m.cfg.Protector), nil
	}
	return m.session(id).recover(ctx, runDir)
}

func (s *session) recover(ctx context.Context, runDir string) ([]Violation, error) {
	if err := s.take(ctx); err != nil {
		return nil, err
	}
	defer s.give()
	if err := s.claim(ctx); err != nil {
		return nil, err
	}
	found := newViolationGuard(runDir, s.manager.projects).recover()
	s.pending = append(s.pending, found...)
	return found, nil
}
