package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// verb is a command that people give in a chat.
type verb struct {
	name, doc string
	do        func(f *front, ctx context.Context, m *message, rest string) (answer string, err error)
}

// verbs are all commands. They are looked up when one is given, since help lists them.
func verbs() []verb {
	return []verb{
		{"start", "what this is", (*front).help},
		{"help", "what can be done here", (*front).help},
		{"new", "begin anew", (*front).fresh},
		{"reset", "drop the files and the container of this conversation", (*front).reset},
		{"resume", "go on with an earlier conversation", (*front).resume},
		{"stop", "end what is being done", (*front).stop},
		{"status", "what is being done", (*front).status},
		{"model", "which model answers, or another one", (*front).model},
		{"agent", "which agent works, or another one", (*front).agent},
	}
}

func commandList() (all []botCommand) {
	for _, v := range verbs() {
		all = append(all, botCommand{Command: v.name, Description: v.doc})
	}
	return all
}

// command is the command that a text is, for a bot of that name.
func command(text, bot string) (name, rest string, is bool) {
	text, is = strings.CutPrefix(strings.TrimSpace(text), "/")
	if !is {
		return "", "", false
	}
	word, rest, _ := strings.Cut(text, " ")
	if i := strings.IndexByte(word, '\n'); i >= 0 {
		word, rest = word[:i], word[i+1:]+" "+rest
	}
	name, to, _ := strings.Cut(word, "@")
	if name == "" || strings.ContainsAny(name, "/.") || to != "" && !strings.EqualFold(to, bot) {
		return "", "", false // a path, or for another bot
	}
	return strings.ToLower(name), strings.TrimSpace(rest), true
}

// command does a command, once: one that comes again after a crash was done.
func (f *front) command(ctx context.Context, m *message, name, rest string) error {
	if m.ID <= f.records.of(m.place()).Command {
		return nil
	}
	answer, err := fmt.Sprintf("There is no /%s: /help has what there is.", name), error(nil)
	for _, v := range verbs() {
		if v.name == name {
			answer, err = v.do(f, ctx, m, rest)
		}
	}
	if err != nil {
		if err := f.trouble(ctx, m.place(), err); err != nil {
			return err
		}
	} else if err := f.tell(ctx, m.place(), answer); err != nil {
		return err
	}
	_, err = f.records.change(ctx, m.place(), func(r *record) error {
		r.Command = m.ID
		return nil
	})
	return err
}

func (f *front) help(context.Context, *message, string) (string, error) {
	lines := []string{"Write what is to be done. Files and photos may come with it.", ""}
	for _, v := range verbs()[1:] {
		lines = append(lines, "/"+v.name+" – "+v.doc)
	}
	return strings.Join(lines, "\n"), nil
}

// current is the run of the conversation; its ID is 0 where there is none.
func (f *front) current(ctx context.Context, m *message) (sdk.Run, error) {
	return f.run(ctx, f.records.of(m.place()).Run)
}

const nothingYet = "There is no conversation yet: write what is to be done."

func (f *front) reset(ctx context.Context, m *message, _ string) (string, error) {
	run, err := f.current(ctx, m)
	if err != nil || run.ID == 0 {
		return nothingYet, err
	}
	return "The files and the container of this conversation are gone. The next prompt begins anew; /resume goes back to what was said.",
		f.daemon.Call(ctx, rpc.MethodReset, rpc.RunRef{Run: number(run.ID)}, nil)
}

func (f *front) stop(ctx context.Context, m *message, _ string) (string, error) {
	r := f.records.of(m.place())
	if len(r.Owed) == 0 {
		return "Nothing is being done.", nil
	}
	run := r.Owed[0].Run
	if slices.ContainsFunc(r.Owed, func(d delivery) bool { return d.Run == r.Run }) {
		run = r.Run // rather than one that was left
	}
	err := f.daemon.Call(ctx, rpc.MethodAbort, rpc.RunRef{Run: number(run)}, nil)
	if o := sdk.OutcomeOf(err); o == sdk.Conflict || o == sdk.NotFound {
		return "Nothing is being done.", nil
	}
	return "Stopped.", err
}

func (f *front) status(ctx context.Context, m *message, _ string) (string, error) {
	run, err := f.current(ctx, m)
	if err != nil || run.ID == 0 {
		return nothingYet, err
	}
	owed := len(f.records.of(m.place()).Owed)
	doing := "Nothing is being done."
	if owed > 0 {
		doing = fmt.Sprintf("At work, with %d to answer.", owed)
	}
	return fmt.Sprintf("%s\nAgent: %s\nModel: %s", doing, run.Agent, run.Model), nil
}

func (f *front) model(ctx context.Context, m *message, rest string) (string, error) {
	var models rpc.Models
	if err := f.daemon.Call(ctx, rpc.MethodModels, rpc.ModelsParams{}, &models); err != nil {
		return "", err
	}
	var names []string
	now := f.records.of(m.place()).Model
	for _, one := range models.Models {
		if rest != "" && one.Alias == rest {
			return "The next answer is from " + rest + ".", f.choose(ctx, m, func(r *record) { r.Model = rest })
		}
		if names = append(names, one.Alias); one.Default {
			now = cmp.Or(now, one.Alias)
		}
	}
	if run, err := f.current(ctx, m); err == nil && run.ID != 0 && f.records.of(m.place()).Model == "" {
		now = run.Model
	}
	return list("model", now, names, rest), nil
}

func (f *front) agent(ctx context.Context, m *message, rest string) (string, error) {
	var agents rpc.Agents
	if err := f.daemon.Call(ctx, rpc.MethodAgents, rpc.AgentsParams{Project: f.project}, &agents); err != nil {
		return "", err
	}
	var names []string
	now := f.records.of(m.place()).Agent
	for _, one := range agents.Agents {
		if rest != "" && one.Name == rest {
			return "The next prompt is for " + rest + ".", f.choose(ctx, m, func(r *record) { r.Agent = rest })
		}
		if names = append(names, one.Name); one.Default {
			now = cmp.Or(now, one.Name)
		}
	}
	if run, err := f.current(ctx, m); err == nil && run.ID != 0 && f.records.of(m.place()).Agent == "" {
		now = run.Agent
	}
	return list("agent", now, names, rest), nil
}

func (f *front) choose(ctx context.Context, m *message, change func(*record)) error {
	_, err := f.records.change(ctx, m.place(), func(r *record) error {
		change(r)
		return nil
	})
	return err
}

// list says what there is to choose from.
func list(what, now string, names []string, wrong string) string {
	var b strings.Builder
	if wrong != "" {
		fmt.Fprintf(&b, "There is no %s %s.\n", what, wrong)
	}
	if now != "" {
		fmt.Fprintf(&b, "The %s is %s.\n", what, now)
	}
	if len(names) == 0 {
		return b.String() + "There are no others."
	}
	fmt.Fprintf(&b, "/%s NAME takes another one:", what)
	for i, name := range names {
		if i == 30 {
			fmt.Fprintf(&b, "\nand %d more", len(names)-i)
			break
		}
		b.WriteString("\n" + name)
	}
	return b.String()
}
