package view

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
)

// leastResult is what is left of a result, in bytes, however little fits.
const leastResult = 2000

// shorten cuts the longest of the messages that are left and satisfy which to
// one common length, the greatest with which the prompt fits.
func (f *fitting) shorten(which func(*sdk.Message) bool) {
	lengths := f.lengths(which)
	if len(lengths) == 0 {
		return
	}
	excess := int(float64(f.tokens()-f.p.Ceiling)/f.ratio+1) * charsPerToken
	limit := level(lengths, excess)
	for i := range f.segments {
		s := &f.segments[i]
		if s.gone {
			continue
		}
		messages := slices.Clone(s.messages) // the originals are the cache's
		for j := range messages {
			m := &messages[j]
			if !which(m) || len(m.Text) <= limit {
				continue
			}
			was := messageTokens(m)
			m.Text = shorten(m.Text, limit, whole(m))
			s.raw += messageTokens(m) - was
			f.raw += messageTokens(m) - was
			f.report.Cut++
		}
		s.messages = messages
	}
}

func (f *fitting) lengths(which func(*sdk.Message) bool) []int {
	var lengths []int
	for i := range f.segments {
		for j := range f.segments[i].messages {
			if m := &f.segments[i].messages[j]; which(m) && !f.segments[i].gone {
				lengths = append(lengths, len(m.Text))
			}
		}
	}
	return lengths
}

// level finds the length to which the longest have to be cut so that excess
// bytes go, and no shorter than leastResult.
func level(lengths []int, excess int) int {
	slices.Sort(lengths)
	slices.Reverse(lengths)
	freed := 0
	for i := range lengths {
		next := leastResult
		if i+1 < len(lengths) {
			next = max(lengths[i+1], leastResult)
		}
		step := (lengths[i] - next) * (i + 1)
		if step > 0 && freed+step >= excess {
			return max(next+(freed+step-excess)/(i+1), leastResult)
		}
		freed += max(step, 0)
	}
	return leastResult
}

// whole says where the whole of a message can be read.
func whole(m *sdk.Message) string {
	if m.Skill != "" {
		return "/skills/" + m.Skill + "/SKILL.md"
	}
	return "the run's log"
}

// summaryTokens bounds the estimate of a summary.
const summaryTokens = 300

// maxSkillNames is how many characters of the names of skills a summary holds.
const maxSkillNames = 150

// excerptLength is how much of the first and the last message that went is
// quoted, in characters.
const excerptLength = 100

// summary is the one message that says what went.
func summary(segments []segment) sdk.Message {
	turns, prompts, calls := 0, 0, 0
	byTool := map[string]int{}
	var first, last *sdk.Message
	for i := range segments {
		s := &segments[i]
		if !s.gone {
			continue
		}
		m := &s.messages[0]
		if first == nil {
			first = m
		}
		last = m
		if s.turn {
			turns++
		} else {
			prompts++
		}
		for _, c := range m.Calls {
			calls++
			byTool[c.Tool]++
		}
		for j := range s.messages {
			calls += s.messages[j].Results
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "[To fit, %d of your earlier answers with %d calls%s", turns, calls, toolCounts(byTool))
	if prompts > 0 {
		fmt.Fprintf(&b, " and %d earlier prompts", prompts)
	}
	b.WriteString(" were left out of this conversation. What the calls changed still holds; read again what you need.")
	if first != nil {
		fmt.Fprintf(&b, " The first began: %q. The last began: %q.", excerpt(first), excerpt(last))
	}
	b.WriteString(lostSkills(segments))
	b.WriteString("]")
	return sdk.Message{Role: sdk.RoleUser, Text: b.String()}
}

// lostSkills names the skills whose text went and is nowhere else.
func lostSkills(segments []segment) string {
	var lost []string
	for _, gone := range []bool{true, false} {
		for i := range segments {
			for j := range segments[i].messages {
				m := &segments[i].messages[j]
				at := slices.Index(lost, m.Skill)
				switch {
				case m.Skill == "" || segments[i].gone != gone:
				case gone && at < 0:
					lost = append(lost, m.Skill)
				case !gone && at >= 0:
					lost = slices.Delete(lost, at, at+1)
				}
			}
		}
	}
	if len(lost) == 0 {
		return ""
	}
	names := strings.Join(lost, ", ")
	if len(names) > maxSkillNames {
		names = cutBack(names, maxSkillNames) + ", ..."
	}
	return fmt.Sprintf(" The text of these skills went with them: %s. Load it again before you go on by one of them.", names)
}

// toolCounts names at most five tools, the most used first.
func toolCounts(byTool map[string]int) string {
	if len(byTool) == 0 {
		return ""
	}
	names := make([]string, 0, len(byTool))
	for name := range byTool {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if byTool[a] != byTool[b] {
			return byTool[b] - byTool[a]
		}
		return strings.Compare(a, b)
	})
	more := ""
	if len(names) > 5 {
		names, more = names[:5], ", ..."
	}
	for i, name := range names {
		names[i] = fmt.Sprintf("%s %d", name, byTool[name])
	}
	return " (" + strings.Join(names, ", ") + more + ")"
}

func excerpt(m *sdk.Message) string {
	text := m.Text
	if text == "" && len(m.Calls) > 0 {
		text = m.Calls[0].Tool + " " + m.Calls[0].Arguments
	}
	text = strings.Join(strings.Fields(text[:min(len(text), 4*excerptLength)]), " ")
	if utf8.RuneCountInString(text) > excerptLength {
		text = string([]rune(text)[:excerptLength]) + "..."
	}
	return strings.ToValidUTF8(text, "")
}
