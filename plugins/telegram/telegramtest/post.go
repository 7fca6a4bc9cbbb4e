package telegramtest

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf16"
)

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

func (s *Server) post(chat, id int64) *Post {
	for _, p := range s.posts {
		if p.Chat == chat && p.ID == id {
			return p
		}
	}
	return nil
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
