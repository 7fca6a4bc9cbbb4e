package main

import (
	"bytes"
	"cmp"
	"html"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// styled is a text with how its parts are shown.
type styled struct {
	Text     string
	Entities []entity
}

// reader reads Markdown as models write it, and tableless the same without tables.
var (
	reader    = goldmark.New(goldmark.WithExtensions(extension.Strikethrough, extension.Table, extension.TaskList)).Parser()
	tableless = goldmark.New(goldmark.WithExtensions(extension.Strikethrough, extension.TaskList)).Parser()
)

// mostCells bounds what the tables of a text may come to. Each line below the first is a row of as many cells as that one
// has, written or not, so that a short text can have millions.
const mostCells = 100_000

// parse reads a text.
func parse(source []byte) ast.Node {
	lines, widest := 1, 0
	for line := range bytes.Lines(source) {
		lines, widest = lines+1, max(widest, bytes.Count(line, []byte("|"))+1)
	}
	if lines*widest > mostCells {
		return tableless.Parse(text.NewReader(source))
	}
	return reader.Parse(text.NewReader(source))
}

// blocks are the blocks of a Markdown text, each as Telegram shows it. What Telegram has no form for stays as it reads
// best: headings are bold, tables are text of one width, HTML is what is written.
func blocks(markdown string) (all []styled) {
	source := []byte(markdown)
	for n := parse(source).FirstChild(); n != nil; n = n.NextSibling() {
		if n.Kind() == ast.KindLinkReferenceDefinition {
			continue
		}
		p := &painter{source: source}
		p.block(n)
		if s := p.styled(); strings.TrimSpace(s.Text) != "" {
			all = append(all, s)
		}
	}
	return all
}

// span is a piece of text with the styles that hold in all of it.
type span struct {
	text   string
	styles []entity // from the outermost to the innermost, without places
}

// painter writes a block.
type painter struct {
	source []byte
	spans  []span
	styles []entity
	indent string // of each line after the first one
}

func (p *painter) write(s string) {
	if s == "" {
		return
	}
	if p.indent != "" {
		s = strings.ReplaceAll(s, "\n", "\n"+p.indent)
	}
	p.spans = append(p.spans, span{text: s, styles: slices.Clone(p.styles)})
}

// in writes with a style more.
func (p *painter) in(style entity, write func()) {
	p.styles = append(p.styles, style)
	write()
	p.styles = p.styles[:len(p.styles)-1]
}

func (p *painter) children(n ast.Node, each func(ast.Node)) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		each(c)
	}
}

// block writes a block, without a line break at its end.
func (p *painter) block(n ast.Node) {
	switch n := n.(type) {
	case *ast.Heading:
		p.in(entity{Type: "bold"}, func() { p.children(n, p.inline) })
	case *ast.FencedCodeBlock:
		p.in(entity{Type: "pre", Language: string(n.Language(p.source))}, func() { p.write(strings.TrimRight(p.lines(n), "\n")) })
	case *ast.CodeBlock:
		p.in(entity{Type: "pre"}, func() { p.write(strings.TrimRight(p.lines(n), "\n")) })
	case *ast.HTMLBlock:
		raw := p.lines(n)
		if n.HasClosure() {
			raw += string(n.ClosureLine.Value(p.source))
		}
		p.write(strings.TrimRight(raw, "\n"))
	case *ast.Blockquote:
		p.in(entity{Type: "blockquote"}, func() { p.stack(n, "\n\n") })
	case *ast.List:
		p.list(n)
	case *ast.ThematicBreak:
		p.write("———")
	case *extast.Table:
		p.in(entity{Type: "pre"}, func() { p.write(p.table(n)) })
	default:
		if n.Type() == ast.TypeBlock && n.FirstChild() != nil && n.FirstChild().Type() == ast.TypeBlock {
			p.stack(n, "\n\n")
			return
		}
		p.children(n, p.inline)
	}
}

// stack writes blocks below each other.
func (p *painter) stack(n ast.Node, between string) {
	p.children(n, func(c ast.Node) {
		if c != n.FirstChild() {
			p.write(between)
		}
		p.block(c)
	})
}

func (p *painter) list(l *ast.List) {
	between, number := "\n", l.Start
	if !l.IsTight {
		between = "\n\n"
	}
	p.children(l, func(item ast.Node) {
		if item != l.FirstChild() {
			p.write(between)
		}
		mark := "• "
		if l.IsOrdered() {
			mark = strconv.Itoa(number) + ". "
			number++
		}
		p.write(mark)
		outer := p.indent
		p.indent += strings.Repeat(" ", len([]rune(mark)))
		p.stack(item, between)
		p.indent = outer
	})
}

// lines are the raw lines of a block.
func (p *painter) lines(n ast.Node) string {
	var b strings.Builder
	for i := range n.Lines().Len() {
		at := n.Lines().At(i)
		b.Write(at.Value(p.source))
	}
	return b.String()
}

func (p *painter) inline(n ast.Node) {
	children := func() { p.children(n, p.inline) }
	switch n := n.(type) {
	case *ast.Text:
		p.write(unescape(n.Value(p.source)))
		if n.HardLineBreak() || n.SoftLineBreak() {
			p.write("\n")
		}
	case *ast.String:
		p.write(string(n.Value))
	case *ast.CodeSpan:
		p.in(entity{Type: "code"}, func() { p.write(p.plain(n)) })
	case *ast.Emphasis:
		p.in(entity{Type: [...]string{"italic", "bold"}[min(max(n.Level, 1), 2)-1]}, children)
	case *extast.Strikethrough:
		p.in(entity{Type: "strikethrough"}, children)
	case *ast.Link:
		p.link(string(n.Destination), children)
	case *ast.Image:
		p.link(string(n.Destination), children)
	case *ast.AutoLink:
		p.write(string(n.Label(p.source)))
	case *ast.RawHTML:
		for i := range n.Segments.Len() {
			at := n.Segments.At(i)
			p.write(string(at.Value(p.source)))
		}
	case *extast.TaskCheckBox:
		p.write(map[bool]string{true: "☑ ", false: "☐ "}[n.IsChecked])
	default:
		children()
	}
}

// link is one that can be followed where Telegram follows it, else its text with the address behind it.
func (p *painter) link(to string, label func()) {
	if strings.HasPrefix(to, "https://") || strings.HasPrefix(to, "http://") {
		p.in(entity{Type: "text_link", URL: to}, func() {
			before := len(p.spans)
			if label(); len(p.spans) == before { // as an image without a text has it
				p.write(to)
			}
		})
		return
	}
	label()
	if to != "" {
		p.write(" (" + to + ")")
	}
}

// plain is the text of a node without its styles.
func (p *painter) plain(n ast.Node) string {
	inner := &painter{source: p.source}
	inner.children(n, func(c ast.Node) {
		if t, is := c.(*ast.Text); is {
			inner.write(string(t.Value(p.source))) // as it is: in code nothing is escaped
			if t.SoftLineBreak() {
				inner.write(" ")
			}
			return
		}
		inner.inline(c)
	})
	var b strings.Builder
	for _, s := range inner.spans {
		b.WriteString(s.text)
	}
	return b.String()
}

// unescape takes the backslashes of Markdown and the names of HTML's characters out of a text.
func unescape(raw []byte) string {
	var b strings.Builder
	for i := 0; i < len(raw); i++ {
		switch {
		case raw[i] == '\\' && i+1 < len(raw) && util.IsPunct(raw[i+1]):
			i++
			b.WriteByte(raw[i])
		case raw[i] == '&':
			end := bytes.IndexByte(raw[i:], ';')
			if end < 0 || end > 32 {
				b.WriteByte('&')
				continue
			}
			b.WriteString(html.UnescapeString(string(raw[i : i+end+1])))
			i += end
		default:
			b.WriteByte(raw[i])
		}
	}
	return b.String()
}

// sameStyle reports whether two parts of a text are shown alike.
func (e entity) sameStyle(o entity) bool {
	return e.Type == o.Type && e.URL == o.URL && e.Language == o.Language
}

// styled puts the pieces together. Telegram has no styles within code, so that those end around it.
func (p *painter) styled() styled {
	var b strings.Builder
	var all []entity
	var open []int // where the styles of the piece before stand in all
	at := 0
	for _, s := range p.spans {
		b.WriteString(s.text)
		length := units(s.text)
		styles := allowed(s.styles)
		same := 0 // what is open goes on, from the outermost to the first that is another
		for same < len(open) && same < len(styles) && all[open[same]].sameStyle(styles[same]) {
			same++
		}
		open = open[:same]
		for _, style := range styles[same:] {
			style.Offset = at
			open = append(open, len(all))
			all = append(all, style)
		}
		for _, i := range open {
			all[i].Length += length
		}
		at += length
	}
	slices.SortStableFunc(all, func(x, y entity) int {
		return cmp.Or(cmp.Compare(x.Offset, y.Offset), cmp.Compare(y.Length, x.Length))
	})
	return trimmed(styled{Text: b.String(), Entities: all})
}

// allowed are the styles of a piece that Telegram takes together: code has none beside it but a quotation, and
// one of each is enough.
func allowed(styles []entity) (all []entity) {
	code := slices.ContainsFunc(styles, func(e entity) bool { return e.Type == "code" || e.Type == "pre" })
	for _, s := range styles {
		if code && s.Type != "code" && s.Type != "pre" && s.Type != "blockquote" {
			continue
		}
		if !slices.ContainsFunc(all, func(e entity) bool { return e.Type == s.Type }) {
			all = append(all, s)
		}
	}
	return all
}

// units is the length of a text as Telegram counts.
func units(s string) (n int) {
	for _, r := range s {
		n += max(utf16.RuneLen(r), 1)
	}
	return n
}
