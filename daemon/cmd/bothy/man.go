package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

type manCmd struct {
	Verb []string `arg:"" optional:"" help:"The verb, whose page has those below it too; the page of bothy itself when absent."`
	To   string   `placeholder:"DIR" complete:"dir" help:"Write every page into DIR instead of printing one."`
}

// Help adds to the verb's help.
func (manCmd) Help() string {
	return `On a terminal man shows the page, or $PAGER the text of --help where there is no man. Elsewhere the page is printed as man reads it. make install puts all pages where man finds them.

Examples:

    bothy man run
    bothy man run | man -l -
    bothy man --to ~/.local/share/man/man1
`
}

// Run prints a page, or writes all.
func (cmd manCmd) Run(ctx context.Context, c *console, app *kong.Application) error {
	if err := c.noJSON("a manual page"); err != nil {
		return err
	}
	pages := manPages(app)
	if cmd.To == "" {
		for _, p := range pages {
			if p.verb != strings.Join(cmd.Verb[:min(1, len(cmd.Verb))], "") || !hasVerb(app.Node, cmd.Verb) {
				continue
			}
			if c.outTTY {
				return c.showPage(ctx, p)
			}
			_, err := io.WriteString(c.out, p.text)
			return err
		}
		return usageError{fmt.Sprintf("there is no verb %q: `bothy --help` lists them", strings.Join(cmd.Verb, " "))}
	}
	dir := c.path(cmd.To)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("folder for the pages: %w", err)
	}
	for _, p := range pages {
		if err := os.WriteFile(filepath.Join(dir, p.name()+".1"), []byte(p.text), 0o644); err != nil {
			return fmt.Errorf("page of %s: %w", p.name(), err)
		}
	}
	return nil
}

// hasVerb reports whether words name a verb below a node.
func hasVerb(n *kong.Node, words []string) bool {
	for _, w := range words {
		at := slices.IndexFunc(n.Children, func(child *kong.Node) bool { return child.Name == w })
		if at < 0 {
			return false
		}
		n = n.Children[at]
	}
	return true
}

// manPage is the manual page of a verb, or of bothy itself.
type manPage struct{ verb, text string }

func (p manPage) name() string { return strings.TrimSuffix("bothy-"+p.verb, "-") }

// manPages makes all pages from what the command line knows of itself. A verb's
// own verbs stand in its page.
func manPages(app *kong.Application) []manPage {
	pages := []manPage{{text: mainPage(app)}}
	for _, n := range app.Children {
		if !n.Hidden {
			pages = append(pages, manPage{n.Name, verbPage(app, n)})
		}
	}
	return pages
}

func mainPage(app *kong.Application) string {
	var r roff
	r.title("bothy", "local agents, with plugins for all they can do")
	r.section("SYNOPSIS")
	r.line(`\fBbothy\fR [\fIoptions\fR] \fIverb\fR [\fIarguments\fR]`)
	r.section("DESCRIPTION")
	detail, codes, _ := strings.Cut(app.Detail, "Exit codes:\n")
	r.prose(detail)
	r.section("VERBS")
	for _, n := range app.Children {
		if !n.Hidden {
			r.term(`\fB` + literal(n.Name) + `\fR`)
			r.line(roffText(n.Help) + ` See \fBbothy\-` + literal(n.Name) + `\fR(1).`)
		}
	}
	r.section("OPTIONS")
	r.flags(app.Flags)
	r.section("EXIT STATUS")
	for line := range strings.Lines(strings.TrimSpace(codes)) {
		code, means, _ := strings.Cut(strings.TrimSpace(line), "  ")
		r.term(`\fB` + literal(code) + `\fR`)
		r.line(roffText(strings.TrimSpace(means)))
	}
	r.section("ENVIRONMENT")
	for _, e := range [][2]string{
		{"BOTHY_PREFIX", "The installation, instead of the one that bothy lies in."},
		{"BOTHY_CONFIG", "The configuration, instead of ~/.config/bothy/config.hcl."},
		{"BOTHY_LISTEN_SOCKET", "The daemon's socket, instead of $XDG_RUNTIME_DIR/bothy/bothy.sock."},
		{"BOTHY_BLOCK_SETTING", "A single setting, as BOTHY_SANDBOX_TIMEOUT; 'bothy config show' lists them."},
		{"NO_COLOR", "Print without colours."},
	} {
		r.term(`\fB` + literal(e[0]) + `\fR`)
		r.line(roffText(e[1]))
	}
	r.section("FILES")
	for _, f := range [][2]string{
		{"~/.config/bothy/config.hcl", "The configuration."},
		{"~/.local/state/bothy", "The database, the daemon's log and the folders of the runs; $XDG_STATE_HOME/bothy when that is set."},
	} {
		r.term(`\fI` + literal(f[0]) + `\fR`)
		r.line(roffText(f[1]))
	}
	return r.String()
}

func verbPage(app *kong.Application, n *kong.Node) string {
	var r roff
	r.title("bothy-"+n.Name, strings.ToLower(n.Help[:1])+strings.TrimSuffix(n.Help[1:], "."))
	r.section("SYNOPSIS")
	verbs := leaves(n)
	for i, v := range verbs {
		if i > 0 {
			r.request("br")
		}
		r.line(synopsis(v))
	}
	if n.Detail != "" {
		r.section("DESCRIPTION")
		detail, _, _ := strings.Cut(n.Detail, "Exit codes:\n")
		r.prose(detail)
	}
	for _, v := range verbs {
		if v != n {
			r.section(strings.ToUpper(v.Name))
			r.prose(v.Help)
			r.prose(v.Detail)
		} else if len(v.Positional)+len(v.Flags) > 0 {
			r.section("OPTIONS")
		}
		for _, p := range v.Positional {
			r.term(manArgument(p))
			r.line(roffText(p.Help))
		}
		r.flags(v.Flags)
	}
	r.section("GLOBAL OPTIONS")
	r.flags(app.Flags)
	r.section("SEE ALSO")
	r.line(`\fBbothy\fR(1), which has the exit codes`)
	return r.String()
}

// leaves are the verbs below a verb that do something, or itself.
func leaves(n *kong.Node) []*kong.Node {
	if len(n.Children) == 0 {
		return []*kong.Node{n}
	}
	var out []*kong.Node
	for _, child := range n.Children {
		if !child.Hidden {
			out = append(out, leaves(child)...)
		}
	}
	return out
}

func synopsis(n *kong.Node) string {
	text := `\fB` + literal(n.FullPath()) + `\fR [\fIoptions\fR]`
	for _, p := range n.Positional {
		text += " " + manArgument(p)
	}
	return text
}

func manArgument(p *kong.Value) string {
	name := `\fI` + literal(p.Name) + `\fR`
	if p.IsSlice() {
		name += " ..."
	}
	if !p.Required {
		return "[" + name + "]"
	}
	return name
}
