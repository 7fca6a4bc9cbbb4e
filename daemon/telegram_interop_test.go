//go:build interop

package daemon

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/plugins/telegram/telegramtest"
)

// TestInteropTelegram has the dialogue of a person with the bot at a Telegram that is not ours. That one takes no list of
// commands, no typing and no documents, keeps the buttons of a message that is written without, and answers at once where
// there are no updates.
func TestInteropTelegram(t *testing.T) {
	service := startService(t)
	c := newChattingAt(t, service.url, modelServer(t))
	service.evidence = c.evidence

	service.says(9, "let me in")
	service.says(7, "/start")
	service.shows(7, "/resume – ")
	service.says(7, "hello **you**")
	if m := service.shows(7, "you said: hello you"); len(m.Entities) != 1 || m.Entities[0].Type != "bold" || m.Entities[0].Offset != 16 {
		t.Errorf("%+v", m)
	}
	service.says(7, "/status")
	service.shows(7, "Model: parrot/parrot")

	service.says(7, `call write_file {"path":"made","content":"of ada\n"}`)
	asked := service.shows(7, "of ada")
	if len(asked.Markup.Rows) != 1 || len(asked.Markup.Rows[0]) != 2 {
		t.Fatalf("the proposal is %+v", asked)
	}
	service.presses(9, asked, 0)
	service.presses(7, asked, 0)
	if m := service.shows(7, "Accepted by Ada (telegram/7)."); m.id != asked.id {
		t.Errorf("the answered proposal is %+v", m)
	}
	service.shows(7, "the tool said: ")
	if got := c.folder("made"); got != "of ada\n" {
		t.Errorf("made is %q", got)
	}

	service.says(7, "/new")
	service.shows(7, "The next prompt begins anew.")
	service.says(7, "at length "+strings.TrimSpace(strings.Repeat("word ", 3600))+" end.")
	service.until("a long answer in messages, for want of documents", func() bool { return service.count(7, "word word") == 5 })
	if n := service.count(9, ""); n != 0 {
		t.Errorf("a stranger got %d messages", n)
	}
	c.whole()
}

// service is a server of telegram-test-api, with the token of the tests.
type service struct {
	t        *testing.T
	url      string
	changed  chan struct{}
	evidence func() string
}

// botMessage is a message of the bot as that server has it.
type botMessage struct {
	id       int64
	Chat     int64                 `json:"chat_id"`
	Text     string                `json:"text"`
	Entities []telegramtest.Entity `json:"entities"`
	Markup   struct {
		Rows [][]telegramtest.Button `json:"inline_keyboard"`
	} `json:"reply_markup"`
}

func startService(t *testing.T) *service {
	t.Helper()
	modules := os.Getenv("BOTHY_TELEGRAM_API")
	if modules == "" {
		t.Fatal("set BOTHY_TELEGRAM_API to a folder of node modules with telegram-test-api 4.2.1")
	}
	node := "node"
	if own, _ := filepath.Glob(filepath.Join(modules, "node-*", "bin", "node")); len(own) > 0 { // newer than the machine's
		node = own[0]
	}
	cmd := exec.Command(node, filepath.Join("testdata", "telegram", "server.cjs"), modules)
	cmd.Stderr = os.Stderr
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("BOTHY_TELEGRAM_API: %v", err)
	}
	lines, s := bufio.NewScanner(out), &service{t: t, changed: make(chan struct{}, 1)}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // its state is of no interest
		_ = cmd.Wait()
	})
	late := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	if !lines.Scan() || !late.Stop() {
		t.Fatal("telegram-test-api ended or took more than a minute before it listened")
	}
	s.url = lines.Text()
	go func() {
		for lines.Scan() {
			select {
			case s.changed <- struct{}{}:
			default: // somebody looks already
			}
		}
	}()
	return s
}

// post asks the server for something, as its own clients do.
func (s *service) post(path string, params, result any) {
	s.t.Helper()
	body, err := json.Marshal(params)
	if err != nil {
		s.t.Fatal(err)
	}
	resp, err := http.Post(s.url+path, "application/json", bytes.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }() // it was read
	var answer struct {
		OK     bool            `json:"ok"`
		Result json.RawMessage `json:"result"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || !answer.OK {
		s.t.Fatalf("%s: %d, %v", path, resp.StatusCode, err)
	}
	if result != nil {
		if err := json.Unmarshal(answer.Result, result); err != nil {
			s.t.Fatal(err)
		}
	}
}

// act is what each thing has that a person does, alone with the bot.
func act(person int64, more map[string]any) map[string]any {
	m := map[string]any{"botToken": telegramtest.Token, "date": time.Now().Unix(), "from": map[string]any{"id": person, "first_name": "Somebody", "is_bot": false}, "chat": map[string]any{"id": person, "type": "private"}}
	for name, value := range more {
		m[name] = value
	}
	return m
}

// says writes a text, or a command.
func (s *service) says(person int64, text string) {
	s.t.Helper()
	if word, _, _ := strings.Cut(text, " "); strings.HasPrefix(word, "/") {
		s.post("/sendCommand", act(person, map[string]any{"text": text, "entities": []telegramtest.Entity{{Type: "bot_command", Length: len(word)}}}), nil)
		return
	}
	s.post("/sendMessage", act(person, map[string]any{"text": text}), nil)
}

// presses presses a button of the first row.
func (s *service) presses(person int64, m botMessage, button int) {
	s.t.Helper()
	s.post("/sendCallback", act(person, map[string]any{"data": m.Markup.Rows[0][button].Data, "message": map[string]any{"message_id": m.id, "date": time.Now().Unix(), "chat": map[string]any{"id": m.Chat, "type": "private"}}}), nil)
}

// messages are those of the bot in a chat, as they are now.
func (s *service) messages(chat int64) (all []botMessage) {
	s.t.Helper()
	var history []struct {
		ID      int64      `json:"messageId"`
		Message botMessage `json:"message"`
	}
	s.post("/getUpdatesHistory", map[string]string{"token": telegramtest.Token}, &history)
	for _, h := range history {
		if h.Message.id = h.ID; h.Message.Chat == chat {
			all = append(all, h.Message)
		}
	}
	return all
}

// until waits for what the bot will have done.
func (s *service) until(what string, is func() bool) {
	s.t.Helper()
	late := time.After(patience)
	for !is() {
		select {
		case <-s.changed:
		case <-late:
			s.t.Fatalf("never: %s; it shows %s\n%s", what, tail(fmt.Sprintf("%+v", s.messages(7)), 3000), s.evidence())
		}
	}
}

// shows waits for a message of the bot whose text has something.
func (s *service) shows(chat int64, text string) (found botMessage) {
	s.t.Helper()
	s.until(text, func() bool {
		all := s.messages(chat)
		i := slices.IndexFunc(all, func(m botMessage) bool { return strings.Contains(m.Text, text) })
		if i >= 0 {
			found = all[i]
		}
		return i >= 0
	})
	return found
}

// count is how many messages of the bot in a chat have a text.
func (s *service) count(chat int64, text string) (n int) {
	for _, m := range s.messages(chat) {
		if strings.Contains(m.Text, text) {
			n++
		}
	}
	return n
}
