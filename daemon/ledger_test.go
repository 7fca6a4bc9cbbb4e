package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/hook"
	"github.com/bothyd/bothy/sdk/host"
	"github.com/bothyd/bothy/sdk/plugin"
	"github.com/bothyd/bothy/sdk/skill"
	"github.com/bothyd/bothy/sdk/tool"
)

// playLedger names the environment variable that makes this binary the plugin
// ledger.
const playLedger = "BOTHY_TEST_LEDGER"

// ledgerFile is where actions leave their mark, below the project.
const ledgerFile = "lines"

type line struct {
	Line string `json:"line"`
}

// serveLedger serves a tool with an effect that cannot be taken back and shows
// when it came twice: it appends a line to a file. Nothing promises that it may
// be called again. The code skill of the site does the same (withSkills).
func serveLedger() {
	plugin.Serve(plugin.Options{
		Name: "ledger", Version: "1", Grants: []string{sdk.GrantProject}, Calls: sdk.Calls{Tools: ledgerCalls(), Schemes: []string{"known", "prompt"}},
		Hook: hook.Set{hook.AfterRest(noteRest)},
		Tool: tool.Set{
			tool.New("note_line", "Appends a line to the ledger.", sdk.Annotations{}, noteLine),
			tool.New("note_entry", "Appends a line to two entries.", sdk.Annotations{}, noteEntry),
		},
		Skill: skill.Set{skill.New(codeSkill, func(_ context.Context, call skill.Call) (sdk.ToolResult, error) {
			return note(call.Project, call.Input)
		}), skill.New(callingSkill, func(ctx context.Context, call skill.Call) (sdk.ToolResult, error) {
			return host.Use(ctx, "note_line", line{call.Input})
		}), skill.New(fetchingSkill, func(ctx context.Context, call skill.Call) (sdk.ToolResult, error) {
			return host.Use(ctx, "web_fetch", map[string]string{"url": call.Input})
		})},
	})
}

// bundleLedger puts this binary among an installation's plugins, as ledger and
// the others that it plays, where it needs no digest: checking that at each start
// would cost more than the start.
func bundleLedger(prefix string) error {
	binary, err := os.ReadFile(os.Args[0])
	if err != nil {
		return err
	}
	ledger := filepath.Join(prefix, "libexec/bothy/bothy-plugin-ledger")
	if err := os.WriteFile(ledger, binary, 0o700); err != nil {
		return err
	}
	for _, name := range []string{"intruder", "spiller", "front", "veto"} {
		if err := os.Link(ledger, filepath.Join(prefix, "libexec/bothy/bothy-plugin-"+name)); err != nil {
			return err
		}
	}
	return nil
}

func noteLine(_ context.Context, in line, call tool.Call) (sdk.ToolResult, error) {
	return note(call.Project, in.Line)
}

func note(project, line string) (sdk.ToolResult, error) {
	f, err := os.OpenFile(filepath.Join(project, ledgerFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return sdk.ToolResult{}, err
	}
	_, err = fmt.Fprintln(f, line)
	if err = errors.Join(err, f.Close()); err != nil {
		return sdk.ToolResult{}, err
	}
	return tool.Text(noted(line)), nil
}

// The skills of a site: two are executed by the ledger, the other is a text.
const (
	codeSkill    = "note"
	callingSkill = "call-note" // calls note_line through the services of the host
	textSkill    = "plain"
)

// fetchingSkill is a code skill of scripts, which fetches the address that it is given.
const fetchingSkill = "fetch"

// ledgerCalls are the tools that the ledger calls: where it was started to fetch, that alone.
func ledgerCalls() []string {
	if os.Getenv(playLedger) == fetchingSkill {
		return []string{"web_fetch"}
	}
	return []string{"note_line"}
}

// withSkills gives the site's user two code skills, which append their input to
// the ledger, and a skill whose text says that it did.
func (s *site) withSkills() *site {
	s.t.Helper()
	for name, rest := range map[string]string{codeSkill: "plugin: ledger\n---\nNotes.\n", callingSkill: "plugin: ledger\n---\nNotes.\n", textSkill: "---\n" + noted("$ARGUMENTS") + "\n"} {
		dir := filepath.Join(s.root, "home/.config/bothy/skills", name)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			s.t.Fatal(err)
		}
		write(s.t, filepath.Join(dir, "SKILL.md"), fmt.Sprintf("---\nname: %s\ndescription: For tests.\n%s", name, rest))
	}
	return s
}

// noted is what an action answers that has done its work.
func noted(line string) string { return "noted " + line }

// lines counts the lines of the site's ledgers, those in the folders of private runs too.
func (s *site) lines() map[string]int {
	s.t.Helper()
	count := map[string]int{}
	private, err := filepath.Glob(filepath.Join(s.root, "home/.local/state/bothy/runs/*/workspace"))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, project := range append(private, s.project, s.aside) {
		text, err := os.ReadFile(filepath.Join(project, ledgerFile))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			s.t.Fatal(err)
		}
		for l := range strings.Lines(string(text)) {
			count[strings.TrimSuffix(l, "\n")]++
		}
	}
	return count
}
