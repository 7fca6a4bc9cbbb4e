package inspect

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/bothyd/bothy/daemon/internal/durable"
	"github.com/bothyd/bothy/sdk"
)

// subscriptions are those of plugins, by label.
type subscriptions map[string][]sdk.Subscription

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
	s.changeHeard(func(all subscriptions) { all[label] = subs })
}

// SubscribesNoMore forgets the plugins of all labels that have no block.
func (s *Inspector) SubscribesNoMore(block func(label string) bool) {
	s.changeHeard(func(all subscriptions) {
		maps.DeleteFunc(all, func(label string, _ []sdk.Subscription) bool { return !block(label) })
	})
}

func (s *Inspector) changeHeard(change func(subscriptions)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := maps.Clone(s.heard())
	change(now)
	if maps.EqualFunc(now, s.subscribed, slices.Equal) {
		return
	}
	write := durable.Replace // without a guard in it, it may be lost: nobody is taken for none
	if slices.ContainsFunc(slices.Collect(maps.Values(now)), func(subs []sdk.Subscription) bool { return len(subs) > 0 }) {
		write = durable.Write
	}
	s.subscribed = now
	text, _ := json.Marshal(now) // of strings and numbers
	s.keep(s.heardFile(), text, write)
}

func (s *Inspector) heardFile() string {
	return filepath.Join(s.cfg.DataDir, "plugins", "subscriptions")
}

// heard is what was kept. Where that cannot be read nobody knows who is a guard, which is
// what the daemon says until each plugin has started again. It needs s.mu.
func (s *Inspector) heard() subscriptions {
	if s.subscribed == nil {
		err := s.read(s.heardFile(), &s.subscribed)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			aside := s.heardFile() + ".broken"
			s.cfg.Log.Warn("what plugins subscribe to could not be read", "aside", aside, "error", errors.Join(err, os.Rename(s.heardFile(), aside)))
		}
		if err != nil || s.subscribed == nil {
			s.subscribed = subscriptions{}
		}
	}
	return s.subscribed
}
