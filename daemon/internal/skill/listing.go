package skill

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
)

// leastDescription is what descriptions are shortened to at most, in
// characters: less says nothing, and names stand alone then.
const leastDescription = 40

// Budget is how many characters the list may take: a share in percent of a
// model's context in tokens, UnknownContext when that is not known, at four
// characters a token.
func Budget(percent float64, context int) int {
	if context <= 0 {
		context = UnknownContext
	}
	return int(percent / 100 * float64(context) * 4)
}

// UnknownContext is what is counted with where a model does not tell its own:
// two percent of it are the 8,000 characters that other agents take then.
const UnknownContext = 100_000

// Listing is what a prompt says about skills. It never changes.
type Listing struct {
	Text  string
	Shown []string // by name
	Left  []string // that found no room, what fits the prompt best first

	lines  listLines
	limit  int   // characters of a description; 0 are names alone
	ranked []int // places of all lines, what fits the prompt best first; nil when none had to be left out
}

// The texts around the list. One that would take more than a quarter of the
// budget gives way to the short one.
const (
	listUsage = "# Skills\n\nA skill is a folder of instructions, and sometimes scripts, for one kind of task. When one below fits what you are " +
		"asked to do, call use_skill with its name before you begin and follow what it returns; its files are then at /skills/NAME. " +
		"Load only skills that fit, each once. Skills are not tools: their names cannot be called.\n\n"
	listBrief   = "Skills are instructions for tasks: when one fits, call use_skill with its name first.\n"
	listOpening = "<available_skills>\n"
	listClosing = "</available_skills>"
	ellipsis    = "…" // marks a description that goes on
)

// leftOut is the line that says how many skills found no room.
func leftOut(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "\n1 more skill is not listed for lack of room: use_skill takes its name too; `bothy skills match` finds it."
	}
	return fmt.Sprintf("\n%d more skills are not listed for lack of room: use_skill takes their names too; `bothy skills match` finds them.", n)
}

// For is the text for a model that loads skills by a tool of another name than use_skill.
func (l Listing) For(tool string) string {
	const usual = "use_skill"
	head, list, found := strings.Cut(l.Text, listOpening)
	end := strings.LastIndex(list, listClosing)
	if !found || end < 0 {
		return l.Text
	}
	return strings.ReplaceAll(head, usual, tool) + listOpening + list[:end] + strings.ReplaceAll(list[end:], usual, tool)
}

// List writes the usable skills that models may use into at most budget
// characters, by name. What does not fit has its description shortened, all to
// one length; then names stand alone; then those are left out that fit the
// prompt worst, and a line says how many. While every name fits, the text does
// not depend on the prompt. A budget that has no room for even that line
// gives no text, and everything is in Left.
func List(c *Catalogue, budget int, prompt string) Listing {
	l := Listing{lines: c.listed()}
	lines := l.lines
	if len(lines.all) == 0 {
		return l
	}
	intro := listUsage
	if len(listUsage)*4 > budget {
		intro = listBrief
	}
	room := budget - len(intro) - len(listOpening) - len(listClosing)
	left := make([]bool, len(lines.all)) // by place
	switch {
	case lines.whole <= room:
		l.limit = maxDescription
	case lines.least <= room: // the greatest length with which all descriptions fit
		l.limit = leastDescription + sort.Search(maxDescription-leastDescription, func(n int) bool { return lines.size(leastDescription+n+1) > room })
	case lines.names > room:
		l.ranked = lines.rank(c, prompt)
		room -= len(leftOut(len(lines.all)))
		for _, at := range l.ranked {
			if x := lines.all[at]; x.bare <= room {
				room -= x.bare
			} else {
				left[at] = true
				l.Left = append(l.Left, x.document.Name)
			}
		}
	}
	var b strings.Builder
	b.Grow(max(0, min(budget, lines.whole+len(listUsage)+len(listClosing))))
	b.WriteString(intro + listOpening)
	for at, x := range lines.all {
		if !left[at] {
			x.write(&b, l.limit)
			l.Shown = append(l.Shown, x.document.Name)
		}
	}
	b.WriteString(listClosing + leftOut(len(l.Left)))
	if l.Text = b.String(); utf8.RuneCountInString(l.Text) > budget {
		l = Listing{lines: lines, ranked: lines.rank(c, prompt)}
		for _, at := range l.ranked {
			l.Left = append(l.Left, lines.all[at].document.Name)
		}
	}
	return l
}

// rank returns the places of lines by how well they fit the prompt; those that
// do not fit at all by tier, a person's own before what came with Bothy, and name.
func (lines listLines) rank(c *Catalogue, prompt string) (ranked []int) {
	s := c.search()
	t := s.tally(prompt, s.terms(prompt))
	defer s.tallies.Put(t)
	ranked = make([]int, 0, len(lines.all))
	for i, x := range lines.all {
		if t.scores[x.place] > 0 {
			ranked = append(ranked, i)
		}
	}
	slices.SortFunc(ranked, func(a, b int) int {
		return cmp.Or(cmp.Compare(t.scores[lines.all[b].place], t.scores[lines.all[a].place]), a-b)
	})
	for _, tier := range []sdk.SkillTier{sdk.TierWorkspace, sdk.TierUser, sdk.TierBundled, ""} {
		for i, x := range lines.all {
			if t.scores[x.place] == 0 && x.document.Tier == tier {
				ranked = append(ranked, i)
			}
		}
	}
	return ranked
}

// Place is where one skill stands in a listing.
type Place struct {
	Shown bool
	Line  string // as in the text, when it is shown
	From  int    // characters of its description
	To    int    // of them that are shown; as From when it is whole, 0 when it has none
	Rank  int    // how well it fits the prompt, from 1, when some skills found no room
	Of    int    // skills that could be listed
}

// Place returns where a name stands; false when it could not be listed however
// much room there is: it is not usable, or only people may use it.
func (l Listing) Place(name string) (Place, bool) {
	at, ok := slices.BinarySearchFunc(l.lines.all, name, func(x listLine, name string) int { return strings.Compare(x.document.Name, name) })
	if !ok {
		return Place{}, false
	}
	x := l.lines.all[at]
	p := Place{From: utf8.RuneCountInString(x.description), Rank: slices.Index(l.ranked, at) + 1, Of: len(l.lines.all)}
	if _, p.Shown = slices.BinarySearch(l.Shown, name); p.Shown {
		var b strings.Builder
		x.write(&b, l.limit)
		p.Line = strings.TrimSuffix(b.String(), "\n")
		p.To = utf8.RuneCountInString(cut(x.description, l.limit))
	}
	return p, true
}
