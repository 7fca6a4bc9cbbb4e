package model

import (
	"sync"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// keepTime is how long a provider's list, and the silence of an address, is
// believed.
const keepTime = 30 * time.Second

// kept is what providers and addresses told not long ago. The zero value is
// ready.
type kept struct {
	mu     sync.Mutex
	lists  map[string]keptList  // by label
	silent map[string]time.Time // by address: since when nothing comes back from it
	blind  map[string]bool      // provider/name of models whose server said that they take no images
}

type keptList struct {
	mark   string // of the block and of its plugin, as they were; see resolver.mark
	since  time.Time
	models []sdk.Model
}

// list is a provider's list, unless it is too old or its mark is another one by now.
func (k *kept) list(label, mark string) ([]sdk.Model, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	l, ok := k.lists[label]
	if !ok || l.mark != mark || time.Since(l.since) > keepTime {
		return nil, false
	}
	return l.models, true
}

func (k *kept) keep(label, mark string, models []sdk.Model) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.lists == nil {
		k.lists = map[string]keptList{}
	}
	k.lists[label] = keptList{mark, time.Now(), models}
}

// drop forgets what was listed, and that a server could not be started.
func (k *kept) drop(label string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.lists, label)
	delete(k.silent, startOf(label))
}

// startOf is under what it is kept that a server could not be started.
func startOf(label string) string { return "start " + label }

// isSilent reports whether a question to an address ran out not long ago. An
// address that refuses answers at once, so that it is asked each time.
func (k *kept) isSilent(address string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	since, ok := k.silent[address]
	return ok && time.Since(since) <= keepTime
}

func (k *kept) wasSilent(address string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.silent == nil {
		k.silent = map[string]time.Time{}
	}
	k.silent[address] = time.Now()
}

// isBlind reports whether a model's server said that it takes no images.
func (k *kept) isBlind(provider, name string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.blind[provider+"/"+name]
}

func (k *kept) wasBlind(provider, name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.blind == nil {
		k.blind = map[string]bool{}
	}
	k.blind[provider+"/"+name] = true
}

// noSilence has every address asked again.
func (k *kept) noSilence() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.silent = nil
}
