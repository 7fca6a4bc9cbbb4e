package view

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// loads adds an answer that loads a skill of some length.
func (s *story) loads(name string, length int) *story {
	text := name + " says " + strings.Repeat("s", length)
	s.answer("I load "+name, "use_skill:"+text)
	e := &s.entries[len(s.entries)-1]
	e.Attributes = encodeTest(map[string]any{
		"call_id": "call_0", "tool": "use_skill", "plugin": "bothy", "metadata": map[string]any{"skill": name, "folder": "/skills/" + name},
	})
	return s
}

func encodeTest(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}

// chatters adds answers with results of about 250 tokens each.
func (s *story) chatters(n int) *story {
	for i := range n {
		s.answer(fmt.Sprintf("step %d", i), fmt.Sprintf("read_file:result %d %s", i, strings.Repeat("x", 1000)))
	}
	return s
}

func textOf(messages []sdk.Message) string {
	var all []string
	for _, m := range messages {
		all = append(all, m.Text)
	}
	return strings.Join(all, "\n")
}

// TestASkillOutlivesOtherResults: its text is whole while anything else is left
// that can go.
func TestASkillOutlivesOtherResults(t *testing.T) {
	v := newView()
	in := (&story{}).prompt("the task").loads("greet", 6000).chatters(200).assembly()
	in.Context = 10_000
	got, report := fit(t, v, render(t, v, in))
	text := textOf(got.Messages)
	if !strings.Contains(text, strings.Repeat("s", 6000)) || report.Groups == 0 || report.Cut != 0 || strings.Contains(text, "Load it again before you go on") {
		t.Errorf("%+v: %.300s", report, text)
	}
}

// TestSkillsGoLast: where even skills have no room, the oldest go first, after
// everything else, and the model is told how to have them back.
func TestSkillsGoLast(t *testing.T) {
	v := newView()
	in := (&story{}).prompt("the task").loads("one", 9000).loads("two", 9000).loads("three", 9000).loads("four", 9000).chatters(8).assembly()
	in.Context = 10_000
	got, report := fit(t, v, render(t, v, in))
	text := textOf(got.Messages)
	if !strings.Contains(text, "The text of these skills went with them: one") || !strings.Contains(text, "Load it again before you go on") {
		t.Errorf("%+v: %.600s", report, text)
	}
	if !strings.Contains(text, "four says") || strings.Contains(text, "one says") {
		t.Errorf("the oldest did not go first: %.600s", text)
	}
}

// TestASkillThatIsTooLong is shortened at last, and the rest can be read.
func TestASkillThatIsTooLong(t *testing.T) {
	v := newView()
	in := (&story{}).prompt("the task").loads("huge", 200_000).assembly()
	in.Context = 10_000
	got, _ := fit(t, v, render(t, v, in))
	if text := textOf(got.Messages); !strings.Contains(text, "The whole is kept at /skills/huge/SKILL.md") {
		t.Errorf("%.300s", text)
	}
}

// TestOnlyTheLastTextOfASkillIsKept: one that was loaded again takes the room of
// the older copy.
func TestOnlyTheLastTextOfASkillIsKept(t *testing.T) {
	v := newView()
	in := (&story{}).prompt("the task").loads("greet", 6000).chatters(3).loads("greet", 6000).chatters(60).assembly()
	in.Context = 10_000
	got, _ := fit(t, v, render(t, v, in))
	text := textOf(got.Messages)
	if n := strings.Count(text, "greet says"); n != 1 || strings.Contains(text, "Load it again before you go on") {
		t.Errorf("%d copies are left: %.300s", n, text)
	}
}

// TestOnlyOwnToolsLoadSkills: what a plugin says of itself moves nothing.
func TestOnlyOwnToolsLoadSkills(t *testing.T) {
	s := (&story{}).prompt("p").loads("greet", 10)
	e := &s.entries[len(s.entries)-1]
	e.Attributes = encodeTest(map[string]any{"call_id": "call_0", "tool": "use_skill", "plugin": "other", "metadata": map[string]any{"skill": "greet"}})
	m := render(t, newView(), s.assembly()).Messages
	if m[len(m)-1].Skill != "" {
		t.Errorf("%+v", m)
	}
}

// TestAPromptThatIsASkill: the model reads the skill, and an old one goes after
// other old prompts.
func TestAPromptThatIsASkill(t *testing.T) {
	s := (&story{}).prompt("the task").answer("a").prompt("/greet").answer("b")
	for i := range s.entries {
		if s.entries[i].Path == "prompt://2" {
			s.entries[i].Attributes = encodeTest(map[string]any{"mode": "act", "meaning": sdk.Meaning{Skill: "greet", Text: "greet says " + strings.Repeat("s", 6000)}})
		}
	}
	s.prompt("an old prompt " + strings.Repeat("o", 20_000)).answer("c")
	s.prompt("the last").chatters(5)
	in := s.assembly()
	in.Context, in.Tools = 10_000, []sdk.Tool{{}}
	v := newView()
	got, _ := fit(t, v, render(t, v, in))
	text := textOf(got.Messages)
	if !strings.Contains(text, "greet says "+strings.Repeat("s", 6000)) || strings.Contains(text, "an old prompt ooo"+strings.Repeat("o", 3000)) {
		t.Errorf("%.400s", text)
	}
	if strings.Contains(text, "/greet") {
		t.Errorf("the model read what was typed: %.400s", text)
	}
}

// TestSkillsInTheSystemText stand behind what changes less often.
func TestSkillsInTheSystemText(t *testing.T) {
	in := (&story{}).prompt("p").assembly()
	in.Instructions, in.Agent.Persona, in.Skills = sdk.Instructions{File: "AGENTS.md", Text: "be brief"}, "a pirate", "# Skills\n\ngreet"
	if system := render(t, newView(), in).System; !strings.HasSuffix(system, "a pirate\n\n# Skills\n\ngreet") {
		t.Errorf("%s", system)
	}
	in.Skills = ""
	if system := render(t, newView(), in).System; strings.Contains(system, "Skills") {
		t.Errorf("%s", system)
	}
}
