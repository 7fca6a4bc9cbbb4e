package packet

import (
	"strconv"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/view"
	"github.com/bothyd/bothy/sdk"
)

// attribute is one of an element's, which is left out when it is empty.
type attribute struct{ name, value string }

// element is an entry at a level as the packet has it, but for what it costs.
type element struct {
	tag        string
	attributes []attribute
	text       string
	fenced     bool   // the text is what came from outside, in a fence
	path       string // of the entry
	weighs     int    // the characters of the text that promoting it brings, where that is not text
	brings     int    // tokens that come along beside the user message's text
}

// tokensAttribute is how many characters the attribute tokens has beside its number.
const tokensAttribute = len(` tokens=""`)

// head is the element up to its last attribute.
func (e *element) head() string {
	var b strings.Builder
	b.WriteString("<" + e.tag)
	for _, a := range e.attributes {
		if a.value != "" {
			b.WriteString(" " + a.name + `="` + quoted.Replace(a.value) + `"`)
		}
	}
	return b.String()
}

// tail is what stands behind the attributes: a text without "<" as it is, for no tag can be in it; what came from outside in its
// fence; and any other text between two lines with a mark that is not in it. So an entry's text is never changed, and nothing in
// it can end it.
func (e *element) tail() string {
	end := "</" + e.tag + ">"
	switch {
	case e.text == "":
		return "/>"
	case e.fenced, !strings.Contains(e.text, "<"):
		return ">" + e.text + end
	}
	mark := opaque(e.path, e.text)
	return "><<:::" + mark + "\n" + e.text + "\n:::" + mark + end
}

// opaque is a mark for a text that is not in it: the path of its entry, with a number behind it where that is needed.
// The text is read once, however many of such marks are in it.
func opaque(path, text string) string {
	path = quoted.Replace(path)
	mark := ":::" + path
	if !strings.Contains(text, mark) {
		return path
	}
	taken := map[int]bool{}
	numbered := mark + "~"
	for rest := text; ; {
		i := strings.Index(rest, numbered)
		if i < 0 {
			break
		}
		n, behind := 0, rest[i+len(numbered):]
		for _, digit := range []byte(behind[:min(len(behind), 9)]) { // each beginning of a number is in the text
			if digit < '0' || digit > '9' {
				break
			}
			n = 10*n + int(digit-'0')
			taken[n] = true
		}
		rest = rest[i+1:] // a path may be such that one mark begins within another
	}
	n := 2
	for taken[n] {
		n++
	}
	return path + "~" + strconv.Itoa(n)
}

// quoted makes of a value what can stand in an attribute: nothing in it ends the attribute or the line.
var quoted = func() *strings.Replacer {
	pairs := []string{"&", "&amp;", `"`, "&quot;", "<", "&lt;", ">", "&gt;", "\x7f", "?", "\u0085", " ", "\u2028", " ", "\u2029", " "}
	for c := range rune(' ') {
		pairs = append(pairs, string(c), " ")
	}
	return strings.NewReplacer(pairs...)
}()

// shown are the elements of an entry at both levels with what it costs: apart says that the summary is shown beside an element
// at the level visible, as that of data is. The number is part of what it counts.
func shown(visible, summary element, apart bool) (v, s sdk.Shown, tokens sdk.RowTokens) {
	heads, tails := [2]string{visible.head(), summary.head()}, [2]string{visible.tail(), summary.tail()}
	var bare [2]int
	for i := range bare {
		bare[i] = view.Characters(heads[i]) + view.Characters(tails[i]) + 1 // a line of its own
	}
	promoted := bare[0]
	if visible.weighs > 0 {
		promoted = view.Characters(heads[0]) + visible.weighs + view.Characters((&element{tag: visible.tag, path: visible.path, text: "<"}).tail())
	}
	difference, number := 0, "0"
	for range 4 { // until the number has as many digits as it was counted with
		more := tokensAttribute + len(number)
		if difference = tokensOf(promoted+more) + visible.brings; !apart {
			difference = max(difference-tokensOf(bare[1]+more), 0)
		}
		before := len(number)
		if number = strconv.Itoa(difference); len(number) == before {
			break
		}
	}
	of := func(i int) sdk.Shown {
		return sdk.Shown{Text: heads[i] + ` tokens="` + number + `"` + tails[i], Characters: bare[i] + tokensAttribute + len(number)}
	}
	v, s = of(0), of(1)
	tokens.Summary, tokens.Difference = tokensOf(s.Characters), difference
	tokens.Visible = tokens.Summary + difference
	return v, s, tokens
}

// charactersPerToken is the packet's estimate until usage calibrates it.
const charactersPerToken = 2

func tokensOf(characters int) int { return (characters + charactersPerToken - 1) / charactersPerToken }
