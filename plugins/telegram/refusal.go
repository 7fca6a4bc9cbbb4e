package main

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// refusal is an answer of the Bot API that is none of what was asked for.
type refusal struct {
	Method string
	Code   int           // as HTTP has them
	Said   string        // Telegram's own words, without the token
	Wait   time.Duration // with 429: when to ask again
}

func (r *refusal) Error() string {
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

// isBarred: the person blocked the bot, or the group put it out. Nothing that is sent there will arrive.
func isBarred(err error) bool {
	return says(err, http.StatusForbidden) || says(err, http.StatusBadRequest, "chat not found")
}

// isTaken: another program asks for this bot's updates.
func isTaken(err error) bool { return says(err, http.StatusConflict) }

// isUnknown: there is no bot with this token.
func isUnknown(err error) bool {
	return says(err, http.StatusUnauthorized) || says(err, http.StatusNotFound)
}
