// Package telegramtest is a Telegram for tests: a server of the Bot API on the loopback, with chats in which tests write
// and read. It judges requests as the service does where a bot depends on it: lengths in UTF-16 units, entities, edits
// that change nothing, one poller at a time. What it answers in the place of that, tests say.
package telegramtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"unicode/utf16"
)

// Token is the bot's.
const Token = "4242:TESTxTOKENxOFxTHExBOTxNOTHINGxELSE"

// Server is the service. Its methods may be called from several goroutines.
type Server struct {
	URL string

	mu      sync.Mutex
	changed chan struct{} // closed at each change
	updates []map[string]any
	number  int64 // of the last update
	last    int64 // message
	posts   []*Post
	calls   []Call
	planned map[string][]Answer
	pollers int
	closing chan struct{}
}

// Post is a message that the bot has sent, as it is now.
type Post struct {
	Chat, Thread, ID int64
	Text             string
	Entities         []Entity
	Buttons          [][]Button
	ReplyTo          int64
	Document         string // the contents of a file
	Name             string // of that file
	Edits            int
}

// Entity is how a part of a text is shown.
type Entity struct {
	Type   string `json:"type"`
	Offset int    `json:"offset"`
	Length int    `json:"length"`
	URL    string `json:"url,omitempty"`
}

// Button is one below a message.
type Button struct {
	Text string `json:"text"`
	Data string `json:"callback_data"`
}

// Call is a request as it came.
type Call struct {
	Method string
	Body   string
}

// Answer is what a call is answered with in the place of its work.
type Answer struct {
	Status int
	Body   string
}

// Refusal is an answer as the Bot API gives it.
func Refusal(code int, description string) Answer {
	return Answer{Status: code, Body: fmt.Sprintf(`{"ok":false,"error_code":%d,"description":%q}`, code, description)}
}

// TooMany is the refusal of what comes too soon.
func TooMany(seconds int) Answer {
	return Answer{Status: 429, Body: fmt.Sprintf(`{"ok":false,"error_code":429,"description":"Too Many Requests: retry after %d","parameters":{"retry_after":%d}}`, seconds, seconds)}
}

// New starts a server, which ends with the test.
func New(t testing.TB) *Server {
	s := &Server{changed: make(chan struct{}), planned: map[string][]Answer{}, closing: make(chan struct{})}
	h := httptest.NewServer(http.HandlerFunc(s.serve))
	s.URL = h.URL
	t.Cleanup(func() {
		close(s.closing)
		h.Close()
	})
	return s
}

// Plan makes the next calls of a method be answered with these.
func (s *Server) Plan(method string, answers ...Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.planned[method] = append(s.planned[method], answers...)
}

// Write is a message of a person in a chat: the fields of a Message of the Bot API that the test sets. It gets a number.
func (s *Server) Write(m map[string]any) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	m["message_id"] = s.last
	s.update(map[string]any{"message": m})
	return s.last
}

// Says is a text of a person alone with the bot.
func (s *Server) Says(person int64, text string) int64 {
	return s.Write(map[string]any{
		"from": map[string]any{"id": person, "is_bot": false, "first_name": "Somebody"},
		"chat": map[string]any{"id": person, "type": "private"}, "date": 1700000000, "text": text,
	})
}

// Press is a press of a button below a message.
func (s *Server) Press(person int64, p Post, data string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.update(map[string]any{"callback_query": map[string]any{
		"id": fmt.Sprint(s.number + 1), "from": map[string]any{"id": person, "first_name": "Somebody"}, "data": data,
		"message": map[string]any{"message_id": p.ID, "date": 1700000000, "chat": map[string]any{"id": p.Chat, "type": kindOf(p.Chat)}},
	}})
}

func kindOf(chat int64) string {
	if chat < 0 {
		return "supergroup"
	}
	return "private"
}

func (s *Server) update(u map[string]any) {
	s.number++
	u["update_id"] = s.number
	s.updates = append(s.updates, u)
	s.wake()
}

func (s *Server) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Posts are the bot's messages in a chat, in their order.
func (s *Server) Posts(chat int64) []Post {
	s.mu.Lock()
	defer s.mu.Unlock()
	var of []Post
	for _, p := range s.posts {
		if p.Chat == chat {
			of = append(of, *p)
		}
	}
	return of
}

// Calls are the requests of a method, or of all where none is named, in their order.
func (s *Server) Calls(method string) []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	var of []Call
	for _, c := range s.calls {
		if method == "" || c.Method == method {
			of = append(of, c)
		}
	}
	return of
}

// Waiting is how many updates are not confirmed.
func (s *Server) Waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.updates)
}

// Changed is closed when something changes after the call.
func (s *Server) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if rest, is := strings.CutPrefix(r.URL.Path, "/file/bot"+Token+"/"); is {
		fmt.Fprintf(w, "the contents of %s", rest)
		return
	}
	method, is := strings.CutPrefix(r.URL.Path, "/bot"+Token+"/")
	if !is {
		reply(w, Refusal(401, "Unauthorized"))
		return
	}
	params, body, err := read(r)
	if err != nil {
		reply(w, Refusal(400, "Bad Request: "+err.Error()))
		return
	}
	s.mu.Lock()
	s.calls = append(s.calls, Call{Method: method, Body: body})
	if next := s.planned[method]; len(next) > 0 {
		s.planned[method] = next[1:]
		s.wake()
		s.mu.Unlock()
		reply(w, next[0])
		return
	}
	s.mu.Unlock()
	if method == "getUpdates" {
		s.poll(w, r, params)
		return
	}
	s.mu.Lock()
	a := s.do(method, params)
	s.wake()
	s.mu.Unlock()
	reply(w, a)
}

// read takes in the parameters, of JSON or of a form.
func read(r *http.Request) (params map[string]json.RawMessage, body string, err error) {
	params = map[string]json.RawMessage{}
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") {
		var raw json.RawMessage
		if err := json.NewDecoder(r.Body).Decode(&raw); err != nil {
			return nil, "", err
		}
		return params, string(raw), json.Unmarshal(raw, &params)
	}
	if err := r.ParseMultipartForm(32 << 20); err != nil {
		return nil, "", err
	}
	for name, values := range r.MultipartForm.Value {
		params[name] = json.RawMessage(values[0])
	}
	for _, files := range r.MultipartForm.File {
		f, err := files[0].Open()
		if err != nil {
			return nil, "", err
		}
		content := make([]byte, files[0].Size)
		if _, err := f.Read(content); err != nil {
			return nil, "", err
		}
		params["content"], params["name"] = content, json.RawMessage(files[0].Filename)
	}
	return params, "a form", nil
}

func reply(w http.ResponseWriter, a Answer) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.Status)
	fmt.Fprint(w, a.Body)
}

func result(v any) Answer {
	raw, err := json.Marshal(map[string]any{"ok": true, "result": v})
	if err != nil {
		panic(err)
	}
	return Answer{Status: 200, Body: string(raw)}
}

// poll answers when there is an update from offset on. Those before it are confirmed, and gone.
func (s *Server) poll(w http.ResponseWriter, r *http.Request, params map[string]json.RawMessage) {
	var offset int64
	_ = json.Unmarshal(params["offset"], &offset) // 0 where there is none
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pollers > 0 {
		reply(w, Refusal(409, "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"))
		return
	}
	s.pollers++
	defer func() { s.pollers-- }()
	for len(s.updates) > 0 && s.updates[0]["update_id"].(int64) < offset {
		s.updates = s.updates[1:]
	}
	s.wake()
	for len(s.updates) == 0 {
		changed := s.changed
		s.mu.Unlock()
		gone := false
		select {
		case <-changed:
		case <-s.closing:
			gone = true
		case <-r.Context().Done():
			gone = true
		}
		s.mu.Lock()
		if gone {
			return
		}
	}
	reply(w, result(s.updates[:min(len(s.updates), 100)]))
}

// do does what a method does.
func (s *Server) do(method string, params map[string]json.RawMessage) Answer {
	var p struct {
		Chat     int64    `json:"chat_id"`
		Thread   int64    `json:"message_thread_id"`
		Message  int64    `json:"message_id"`
		Text     string   `json:"text"`
		Entities []Entity `json:"entities"`
		Media    struct{ Caption string }
		Reply    struct {
			Message int64 `json:"message_id"`
		} `json:"reply_parameters"`
		Markup struct {
			Rows [][]Button `json:"inline_keyboard"`
		} `json:"reply_markup"`
		File string `json:"file_id"`
	}
	content, name := params["content"], string(params["name"])
	delete(params, "content")
	delete(params, "name")
	raw, err := json.Marshal(params)
	if err == nil {
		err = json.Unmarshal(raw, &p)
	}
	if err != nil {
		return Refusal(400, "Bad Request: "+err.Error())
	}
	switch method {
	case "getMe":
		return result(map[string]any{"id": 4242, "is_bot": true, "first_name": "Bothy", "username": "test_bot"})
	case "getFile":
		return result(map[string]any{"file_id": p.File, "file_path": "documents/" + p.File})
	case "sendMessage":
		if bad := wrong(p.Text, p.Entities); bad != "" {
			return Refusal(400, "Bad Request: "+bad)
		}
		s.last++
		s.posts = append(s.posts, &Post{Chat: p.Chat, Thread: p.Thread, ID: s.last, Text: p.Text, Entities: p.Entities, Buttons: p.Markup.Rows, ReplyTo: p.Reply.Message})
		return result(map[string]any{"message_id": s.last, "date": 1700000000, "chat": map[string]any{"id": p.Chat, "type": kindOf(p.Chat)}, "text": p.Text})
	case "editMessageText", "editMessageMedia":
		post := s.post(p.Chat, p.Message)
		if post == nil {
			return Refusal(400, "Bad Request: message to edit not found")
		}
		post.Edits++
		if method == "editMessageMedia" {
			post.Text, post.Entities, post.Buttons, post.Document, post.Name = p.Media.Caption, nil, nil, string(content), name
			return result(true)
		}
		if bad := wrong(p.Text, p.Entities); bad != "" {
			return Refusal(400, "Bad Request: "+bad)
		}
		if post.Text == p.Text && fmt.Sprint(post.Entities, post.Buttons) == fmt.Sprint(p.Entities, p.Markup.Rows) {
			return Refusal(400, "Bad Request: message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message")
		}
		post.Text, post.Entities, post.Buttons = p.Text, p.Entities, p.Markup.Rows
		return result(true)
	case "deleteWebhook", "setMyCommands", "sendChatAction", "answerCallbackQuery":
		return result(true)
	}
	return Refusal(404, "Not Found")
}

func (s *Server) post(chat, id int64) *Post {
	for _, p := range s.posts {
		if p.Chat == chat && p.ID == id {
			return p
		}
	}
	return nil
}

// Delete takes a message of the bot away, as a person can.
func (s *Server) Delete(chat, id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, p := range s.posts {
		if p.Chat == chat && p.ID == id {
			s.posts = append(s.posts[:i], s.posts[i+1:]...)
			return
		}
	}
}

// wrong says what the service does not take of a text.
func wrong(text string, entities []Entity) string {
	units := utf16.Encode([]rune(text))
	switch {
	case strings.TrimSpace(text) == "":
		return "message text is empty"
	case len(units) > 4096:
		return "message is too long"
	}
	for _, e := range entities {
		if e.Offset < 0 || e.Length <= 0 || e.Offset+e.Length > len(units) {
			return fmt.Sprintf("entity %s beginning at %d has no place in the text", e.Type, e.Offset)
		}
		for _, at := range []int{e.Offset, e.Offset + e.Length} {
			if at < len(units) && units[at] >= 0xDC00 && units[at] <= 0xDFFF {
				return fmt.Sprintf("entity %s begins or ends in the middle of a UTF-16 symbol", e.Type)
			}
		}
		for _, o := range entities {
			if e.Offset < o.Offset && o.Offset < e.Offset+e.Length && e.Offset+e.Length < o.Offset+o.Length {
				return fmt.Sprintf("can't parse entities: %s and %s overlap", e.Type, o.Type)
			}
		}
	}
	return ""
}
