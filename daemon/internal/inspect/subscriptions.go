package inspect

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/bothyd/bothy/sdk"
)

// Subscriptions are those that the plugin of a label declared last, whatever became of
// its file and its block since: a guard that is not there must be known to be one. known
// is false where it never declared anything.
func (s *Inspector) Subscriptions(label string) (subs []sdk.Subscription, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	subs, known = s.heard()[label]
	return subs, known
}

// Subscribes keeps what the plugin of a label declares.
func (s *Inspector) Subscribes(label string, subs []sdk.Subscription) {
	s.changeHeard(func(all map[string][]sdk.Subscription) {
		if was, known := all[label]; !known || !slices.Equal(was, subs) {
			all[label] = slices.Clone(subs)
		}
	})
}

// SubscribesNoMore forgets the plugins of all labels that have no block.
func (s *Inspector) SubscribesNoMore(block func(label string) bool) {
	s.changeHeard(func(all map[string][]sdk.Subscription) {
		maps.DeleteFunc(all, func(label string, _ []sdk.Subscription) bool { return !block(label) })
	})
}

func (s *Inspector) changeHeard(change func(map[string][]sdk.Subscription)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := maps.Clone(s.heard())
	change(now)
	if maps.EqualFunc(now, s.subscribed, func(a, b []sdk.Subscription) bool { return slices.Equal(a, b) }) {
		return
	}
	s.subscribed = now
	text, _ := json.Marshal(now) // of strings and numbers
	s.keep(s.heardFile(), text)
}

func (s *Inspector) heardFile() string {
	return filepath.Join(s.cfg.DataDir, "plugins", "subscriptions")
}

// heard is what was kept, by label. It needs s.mu.
func (s *Inspector) heard() map[string][]sdk.Subscription {
	if s.subscribed != nil {
		return s.subscribed
	}
	s.subscribed = map[string][]sdk.Subscription{}
	if s.cfg.DataDir == "" {
		return s.subscribed
	}
	if text, err := os.ReadFile(s.heardFile()); err == nil {
		if err := json.Unmarshal(text, &s.subscribed); err != nil || s.subscribed == nil {
			s.subscribed = map[string][]sdk.Subscription{}
		}
	}
	return s.subscribed
}
