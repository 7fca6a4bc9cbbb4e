package main

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// refusal is an answer of the Bot API that is none of what was asked for, or that there is none.
type refusal struct {
	Method string
	Code   int           // as HTTP has them; 0 where there is no answer
	Said   string        // Telegram's own words, or why there are none, without the token
	Wait   time.Duration // with 429: when to ask again
	Moved  int64         // the chat that this one became, a group that grew, say; else 0
}

func (r *refusal) Error() string {
	if r.Code == 0 {
		return fmt.Sprintf("Telegram does not answer to %s: %s", r.Method, r.Said)
	}
	return fmt.Sprintf("Telegram refused %s: %d %s", r.Method, r.Code, r.Said)
}

// refused is the refusal in err; nil where there is none.
func refused(err error) *refusal {
	var r *refusal
	if errors.As(err, &r) {
		return r
	}
	return nil
}

// says reports whether err is a refusal with a code whose words hold one of those given.
func says(err error, code int, words ...string) bool {
	r := refused(err)
	if r == nil || r.Code != code {
		return false
	}
	for _, w := range words {
		if strings.Contains(strings.ToLower(r.Said), w) {
			return true
		}
	}
	return len(words) == 0
}

// isUnchanged: the message has that text already, so that the edit is done.
func isUnchanged(err error) bool {
	return says(err, http.StatusBadRequest, "message is not modified")
}

// isGone: the message was deleted, and cannot be edited.
func isGone(err error) bool {
	return says(err, http.StatusBadRequest, "message to edit not found", "message can't be edited", "message_id_invalid")
}

// isUnformatted: Telegram does not take the entities that go with a text.
func isUnformatted(err error) bool {
	return says(err, http.StatusBadRequest, "can't parse entities", "entity", "entities")
}

// isBarred: the person blocked the bot, or the group put it out or silenced it. Nothing that is sent there will arrive.
func isBarred(err error) bool {
	return says(err, http.StatusForbidden) ||
		says(err, http.StatusBadRequest, "chat not found", "rights to send", "chat_write_forbidden", "chat_restricted")
}

// movedTo is the chat that one became to which nothing is sent any more; 0 where that is not why.
func movedTo(err error) int64 {
	if r := refused(err); r != nil {
		return r.Moved
	}
	return 0
}

// isUnfit: Telegram does not take what was sent, as it is or where it was sent. Something else it may take.
func isUnfit(err error) bool { return says(err, http.StatusBadRequest) && !isBarred(err) }

// isBroken: Telegram fails at what was asked.
func isBroken(err error) bool {
	r := refused(err)
	return r != nil && r.Code >= http.StatusInternalServerError
}

// isPassing: nothing is wrong with what was asked, and it is asked again later.
func isPassing(err error) bool {
	r := refused(err)
	return r != nil && (r.Code == 0 || r.Code == http.StatusTooManyRequests) || isBroken(err)
}

// isTaken: another program asks for this bot's updates.
func isTaken(err error) bool { return says(err, http.StatusConflict) }

// isUnknown: there is no bot with this token.
func isUnknown(err error) bool {
	return says(err, http.StatusUnauthorized) || says(err, http.StatusNotFound)
}
