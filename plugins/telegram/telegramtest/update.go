package telegramtest

import (
	"encoding/json"
	"fmt"
	"net/http"
)

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

// Waiting is how many updates are not confirmed.
func (s *Server) Waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.updates)
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
