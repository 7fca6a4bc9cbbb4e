package main

import (
	"strconv"
	"time"
)

// The nouns of the Bot API, with the fields that the plugin reads or writes.

// update is something that happened. Exactly one of its parts is there, or none that was asked for.
type update struct {
	ID      int64    `json:"update_id"`
	Message *message `json:"message"`
	Press   *press   `json:"callback_query"`
}

type message struct {
	ID      int64  `json:"message_id"`
	Thread  int64  `json:"message_thread_id"`
	InTopic bool   `json:"is_topic_message"` // else Thread is a chain of replies
	From    user   `json:"from"`
	As      *chat  `json:"sender_chat"` // who is in From is then nobody: a channel, or a group's admin who hides
	Chat    chat   `json:"chat"`
	Date    int64  `json:"date"` // in seconds
	Text    string `json:"text"`
	Caption string `json:"caption"`

	Entities        []entity `json:"entities"`
	CaptionEntities []entity `json:"caption_entities"`
	Album           string   `json:"media_group_id"`
	ReplyTo         *message `json:"reply_to_message"`
	Through         *user    `json:"via_bot"` // which wrote it for who chose it
	Forwarded       *struct {
		Type string `json:"type"`
	} `json:"forward_origin"`

	Photo    []file `json:"photo"` // one picture, in sizes that grow
	Document *file  `json:"document"`
	Voice    *file  `json:"voice"`
	Audio    *file  `json:"audio"`
	Video    *file  `json:"video"`
	Note     *file  `json:"video_note"`
	Sticker  *file  `json:"sticker"`
}

type user struct {
	ID       int64  `json:"id"`
	Bot      bool   `json:"is_bot"`
	Username string `json:"username"`
	Name     string `json:"first_name"`
}

type chat struct {
	ID   int64  `json:"id"`
	Type string `json:"type"` // private, group, supergroup or channel
}

// file is something beside a text. Path is set by getFile alone.
type file struct {
	ID   string `json:"file_id"`
	Name string `json:"file_name"`
	Type string `json:"mime_type"`
	Size int64  `json:"file_size"`
	Path string `json:"file_path"`
}

// entity is how a part of a text is shown. Offset and Length are in UTF-16 code units.
type entity struct {
	Type     string `json:"type"`
	Offset   int    `json:"offset"`
	Length   int    `json:"length"`
	URL      string `json:"url,omitempty"`
	Language string `json:"language,omitempty"`
}

// press is a button that somebody pressed.
type press struct {
	ID      string   `json:"id"`
	From    user     `json:"from"`
	Message *message `json:"message"` // below which the button stands
	Data    string   `json:"data"`
}

// outgoing is the parameters of sendMessage and of what else is about a message.
type outgoing struct {
	Chat     int64    `json:"chat_id"`
	Thread   int64    `json:"message_thread_id,omitempty"`
	Message  int64    `json:"message_id,omitempty"`
	Text     string   `json:"text,omitempty"`
	Entities []entity `json:"entities,omitempty"`
	Action   string   `json:"action,omitempty"`
	Reply    *replyTo `json:"reply_parameters,omitempty"`
	Preview  *preview `json:"link_preview_options,omitempty"`
	Buttons  *buttons `json:"reply_markup,omitempty"`
}

type replyTo struct {
	Message int64 `json:"message_id"`
	Lenient bool  `json:"allow_sending_without_reply"`
}

// preview says whether Telegram fetches what a text links to. It does not: what a model wrote is not to be asked for.
type preview struct {
	Off bool `json:"is_disabled"`
}

type buttons struct {
	Rows [][]button `json:"inline_keyboard"`
}

type button struct {
	Text string `json:"text"`
	Data string `json:"callback_data"` // at most 64 bytes
}

type botCommand struct {
	Command     string `json:"command"`
	Description string `json:"description"`
}

// place is where one writes: a chat, and in it a topic where it has such.
type place struct {
	Chat   int64 `json:"chat"`
	Thread int64 `json:"thread,omitempty"`
}

// place is where a message stands.
func (m *message) place() place {
	if !m.InTopic {
		return place{Chat: m.Chat.ID}
	}
	return place{Chat: m.Chat.ID, Thread: m.Thread}
}

// words are what the message says, whichever field has them.
func (m *message) words() string {
	if m.Text != "" {
		return m.Text
	}
	return m.Caption
}

// marks are the entities of its words.
func (m *message) marks() []entity {
	if m.Text != "" {
		return m.Entities
	}
	return m.CaptionEntities
}

// alone reports whether the chat is of one person and the bot.
func (m *message) alone() bool { return m.Chat.Type == "private" }

// borrowed reports whether its words are somebody else's than who sent it.
func (m *message) borrowed() bool { return m.Forwarded != nil || m.Through != nil }

// sent is when Telegram had it. A server for tests says it in milliseconds.
func (m *message) sent() time.Time {
	if m.Date > 1e11 {
		return time.UnixMilli(m.Date)
	}
	return time.Unix(m.Date, 0)
}

// person is what the service calls who wrote it; empty where it does not say.
func (m *message) person() string {
	if m.From.ID == 0 || m.As != nil {
		return ""
	}
	return strconv.FormatInt(m.From.ID, 10)
}
