package daemon

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/bothyd/bothy/plugins/telegram/telegramtest"
)

// BenchmarkChat: how long it takes from a message that somebody writes to a bot until its model is asked, and until
// somebody has it who does nothing but poll.
func BenchmarkChat(b *testing.B) {
	p, asked := &parrot{asked: map[string]bool{}}, make(chan time.Time, 1)
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			fmt.Fprintln(w, `{"object":"list","data":[{"id":"parrot","object":"model"}]}`)
			return
		}
		now := time.Now()
		p.complete(w, r)
		asked <- now
	}))
	b.Cleanup(model.Close)
	server := telegramtest.New(b)
	c := newChattingAt(b, server.URL, model.URL+"/v1")
	c.telegram = server
	polled := telegramtest.New(b)
	heard := polls(polled.URL)

	var whole, bare []time.Duration
	for n := 0; b.Loop(); n++ {
		text := fmt.Sprintf("message %d.", n)
		began := time.Now()
		polled.Says(7, text)
		bare = append(bare, (<-heard).Sub(began))

		began = time.Now()
		server.Says(7, text)
		whole = append(whole, (<-asked).Sub(began))
		c.shows(7, "you said: "+text)
	}
	more := median(whole) - median(bare)
	b.ReportMetric(float64(more.Microseconds())/1000, "ms-more")
	report(b, "a message in a chat to the request of its model, over the bare poll", fmt.Sprintf("%v (%v against %v, n=%d)", round(more), round(median(whole)), round(median(bare)), len(whole)), "at most 20ms")
}

// polls asks a server for updates until it is gone, and tells when each came.
func polls(url string) <-chan time.Time {
	heard := make(chan time.Time, 1)
	go func() {
		for offset := int64(0); ; {
			body := fmt.Appendf(nil, `{"offset":%d,"timeout":50}`, offset)
			resp, err := http.Post(url+"/bot"+telegramtest.Token+"/getUpdates", "application/json", bytes.NewReader(body))
			if err != nil {
				return
			}
			var updates struct {
				Result []struct {
					ID int64 `json:"update_id"`
				}
			}
			err = json.NewDecoder(resp.Body).Decode(&updates)
			_ = resp.Body.Close() // it was read
			if err != nil {
				return
			}
			for _, u := range updates.Result {
				offset = u.ID + 1
				heard <- time.Now()
			}
		}
	}()
	return heard
}
