package daemon

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// TestALoanFindsNothingOfOthers: over the connection of a channel, by each method of the catalogue and each of its parameters
// that could name something, nothing comes of what is the terminal's or another channel's, and what is there is answered
// as what is not. A method that is added is tried by itself.
func TestALoanFindsNothingOfOthers(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	spy := filepath.Join(s.root, "spy")
	asks, err := json.Marshal([]rpc.Prompt{
		{Run: "one", Agent: "parrot", Mode: sdk.ModeInteractive, Key: "1", From: &sdk.From{Person: "ada"}, Prompt: `call write_file {"path":"canary-back","content":"canary-back"}`},
		{Run: "two", Agent: "parrot", Key: "2", From: &sdk.From{Person: "ada", Conversation: "canary-back"}, Prompt: "canary-back said"},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.configure(fmt.Sprintf(`
provider "parrot" {
  plugin   = "openai"
  base_url = %q
}
agent "parrot" {
  model = "parrot/parrot"
  tools = ["*", "get", "set"]
}
plugin "bash" {
  enabled = false
}
plugin "front" {
  env      = { %s = "/none", %s = %q }
  grants   = ["channel", "answers"]
  projects = [%q]
}
plugin "back" {
  plugin   = "front"
  env      = { %s = "/none", %s = %q }
  grants   = ["channel", "answers"]
  projects = [%q]
}
person "front/ada" {
  agent   = "parrot"
  answers = true
}
person "back/ada" {
  answers = true
}
`, modelServer(t), playFront, frontSpies, spy, s.project, playFront, frontAsks, asks, s.project))
	write(t, filepath.Join(s.project, "canary-desk"), "canary-desk")
	s.up()
	desk := s.acts("desk-run", s.project, `call write_file {"path":"canary-desk","content":"canary-desk written"}`, sdk.ModeInteractive)
	aside := s.acts("desk-aside", s.aside, "canary-desk aside", "")
	secret := "canary-desk kept"
	if _, err := s.client.SetEntry(t.Context(), rpc.Set{Run: "desk-run", Project: s.project, Path: "known://secret", Body: &secret}); err != nil {
		t.Fatal(err)
	}
	var asked []sdk.Proposal
	back := ""
	for deadline := time.Now().Add(patience); len(asked) < 2 || back == ""; <-time.After(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("others have %v\n%s", asked, s.evidence())
		}
		asked = s.waiting()
		if two, err := s.client.Run(t.Context(), rpc.RunRef{Run: "back_two", Project: s.project}); err == nil && len(two.Loops) == 1 && !two.Loops[0].Ended.IsZero() {
			back = fmt.Sprint(two.ID)
		}
	}
	runs := [][2]string{{desk, "9001"}, {aside, "9002"}, {back, "9003"}, {"desk-run", "none-run"}, {"back_one", "back_six"}, {"back_two", "back_ten"}}
	paths := [][2]string{{"**", "**"}, {"*://**", "*://**"}, {"known://**", "known://**"}, {"known://secret", "known://nobody"}, {"run://**", "run://**"}, {"run://desk-run", "run://none-run"}, {"run://back_one", "run://back_six"}, {"file://**", "file://**"}, {"/.*/", "/.*/"}, {"../canary-desk", "../nobody-desk"}}
	look := search{Of: map[string][][2]string{
		"run": runs, "alias": runs[3:], "id": {{asked[0].ID, "ffff1234"}, {asked[1].ID, "ffff1235"}},
		"path": paths, "pattern": paths, "to": paths, "query": paths, "name": paths, "file": paths, "entry": paths, "action": paths, "filter": paths,
		"project": {{s.aside, s.root + "/none"}, {filepath.Join(s.root, "home"), s.root + "/none"}}, "projectRoot": {{s.aside, s.root + "/none"}},
		"text": {{"canary", "nobody"}}, "owner": {{sdk.LocalOwner, "nobody"}, {"back/ada", "back/nobody"}},
	}}
	text, err := json.Marshal(look)
	if err == nil {
		err = os.WriteFile(spy+".new", text, 0o600)
	}
	if err == nil {
		err = os.Rename(spy+".new", spy)
	}
	if err != nil {
		t.Fatal(err)
	}
	heard := s.heard(spy + ".heard")
	s.acts("desk-more", s.project, "canary-desk goes on", "")
	write(t, spy+".end", "")
	if err := os.Remove(spy + ".heard"); err != nil {
		t.Fatal(err)
	}
	heard.Notes = s.heard(spy + ".heard").Notes
	tried := map[string]int{}
	for _, p := range heard.Probes {
		tried[p.Method]++
		for i, text := range p.Heard {
			if strings.Contains(said(text, p.Params[i]), "canary-") {
				t.Errorf("%s %v: %s", p.Method, p.Params[i], text)
			}
		}
		theirs, nobodys := said(p.Heard[0], p.Params[0]), said(p.Heard[1], p.Params[1])
		if failed := `{"jsonrpc":"2.0","error"`; theirs != nobodys && !reflect.DeepEqual(p.Params[0], p.Params[1]) && (strings.HasPrefix(theirs, failed) || strings.HasPrefix(nobodys, failed)) {
			t.Errorf("%s tells what is there from what is not, by %v:\n%s\n%s", p.Method, p.Params[0], theirs, nobodys)
		}
	}
	for _, text := range heard.Notes {
		if strings.Contains(text, "canary-") {
			t.Errorf("it was told %s", text)
		}
	}
	t.Logf("%d methods by %d calls, %d notifications", len(tried), 2*len(heard.Probes), len(heard.Notes))
}

// said is an answer without the texts of its question, which it may repeat.
func said(answer string, params map[string]any) string {
	for _, value := range params {
		text, is := value.(string)
		if _, alias, run := strings.Cut(text, "run://"); run {
			text = alias
		}
		switch {
		case !is:
		case len(text) > 1:
			answer = strings.ReplaceAll(answer, text, "?")
		default:
			answer = strings.NewReplacer(`\"`+text+`\"`, `\"?\"`, "front_"+text, "front_?").Replace(answer)
		}
	}
	return answer
}

// acts gives a prompt at the machine, waits until its work is over or waits for a person, and returns the run.
func (s *site) acts(run, project, prompt string, mode sdk.Mode) string {
	s.t.Helper()
	a, err := s.client.Act(s.t.Context(), rpc.Prompt{Project: project, Run: run, Agent: "parrot", Prompt: prompt, Mode: mode})
	for deadline := time.Now().Add(patience); err == nil && time.Now().Before(deadline); <-time.After(10 * time.Millisecond) {
		var d rpc.RunDetail
		if d, err = s.client.Run(s.t.Context(), rpc.RunRef{Run: fmt.Sprint(a.ID)}); err == nil && d.Status != sdk.StatusRunning && d.Status != sdk.StatusQueued {
			return fmt.Sprint(a.ID)
		}
	}
	s.t.Fatalf("the run %s: %v\n%s", run, err, s.evidence())
	return ""
}

// heard is what a channel wrote into a file.
func (s *site) heard(file string) (all spied) {
	s.t.Helper()
	for deadline := time.Now().Add(patience); ; <-time.After(20 * time.Millisecond) {
		text, err := os.ReadFile(file)
		if err == nil {
			if err = json.Unmarshal(text, &all); err == nil {
				return all
			}
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("the channel heard nothing: %v\n%s", err, s.evidence())
		}
	}
}
