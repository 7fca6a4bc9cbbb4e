package main

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/bothyd/bothy/sdk"
)

// roff writes a manual page with the macros of man(7).
type roff struct{ strings.Builder }

// literal is text that a person may copy: hyphens stay hyphens.
func literal(text string) string {
	return strings.NewReplacer(`\`, `\e`, `-`, `\-`, `'`, `\(aq`, "`", "\\`", `~`, `\(ti`, `^`, `\(ha`).Replace(text)
}

// roffText is prose: what stands between backquotes is set in bold.
func roffText(text string) string {
	var b strings.Builder
	for i, part := range strings.Split(text, "`") {
		if i%2 == 1 {
			part = `\fB` + literal(part) + `\fR`
		} else {
			part = literal(part)
		}
		b.WriteString(part)
	}
	return b.String()
}

// line writes a line that no request can begin.
func (r *roff) line(text string) {
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	r.WriteString(text + "\n")
}

func (r *roff) request(text string) { r.WriteString("." + text + "\n") }

func (r *roff) title(name, summary string) {
	r.request(fmt.Sprintf(`TH %s 1 "" "%s" "Bothy"`, literal(strings.ToUpper(name)), literal("bothy "+sdk.Version)))
	r.section("NAME")
	r.line(literal(name) + ` \- ` + roffText(summary))
}

func (r *roff) section(name string) { r.request("SH " + name) }

// term begins an item whose explanation is the next line.
func (r *roff) term(text string) {
	r.request("TP")
	r.line(text)
}

func (r *roff) flags(flags []*kong.Flag) {
	for _, f := range flags {
		if f.Hidden {
			continue
		}
		text := `\fB\-\-` + literal(f.Name) + `\fR`
		if !f.IsBool() {
			value := strings.Trim(f.FormatPlaceHolder(), `"`)
			if f.Enum != "" {
				value = strings.ReplaceAll(f.Enum, ",", "|")
			}
			text += `=\fI` + literal(value) + `\fR`
		}
		if f.Short != 0 {
			text = `\fB\-` + literal(string(f.Short)) + `\fR, ` + text
		}
		r.term(text)
		r.line(roffText(f.Help))
	}
}

// prose writes a text as the verbs' help has it: paragraphs between empty
// lines; lines that begin with two spaces stay as they are.
func (r *roff) prose(text string) {
	example := false
	end := func() {
		if example {
			r.request("EE")
			r.request("RE")
		}
		example = false
	}
	for line := range strings.Lines(strings.TrimSpace("\n"+text) + "\n") {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case line == "" && !example:
			r.request("PP")
		case line == "":
			r.line("")
		case strings.HasPrefix(line, "  "):
			if !example {
				r.request("RS")
				r.request("EX")
			}
			example = true
			r.line(literal(strings.TrimPrefix(line, "    ")))
		default:
			end()
			r.line(roffText(line))
		}
	}
	end()
}
