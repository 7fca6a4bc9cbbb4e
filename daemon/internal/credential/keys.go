// Package credential finds the keys that secret("NAME") of a configuration asks for, and keeps
// those that a person gives (ADR 0067).
//
//	keys.go           where a key is looked for, in which order
//	keep.go           giving a key and taking it away
//	file.go           credentials.json beside the configuration
//	keyring.go        what is asked of a keyring, and for how long
//	secretservice.go  the Secret Service of a Linux desktop, over D-Bus
//	keychain.go       the Keychain of macOS, by its program security
//	logins.go         what plugins ask of logins at servers
//	answer.go         what clients ask of all this
package credential

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/bothyd/bothy/sdk"
)

// Place is where a key is.
type Place string

// The places in the order in which they are looked at.
const (
	Environment Place = "environment" // of the daemon
	Keyring     Place = "keyring"
	File        Place = "file"   // credentials.json
	Memory      Place = "memory" // of the daemon, until it ends
)

// Keys finds keys by their names. It is made by New and is safe for concurrent use.
type Keys struct {
	getenv func(string) (string, bool)
	path   string
	ring   Ring
	hide   Hider

	changing sync.Mutex // one login or logout at a time; taken before mu

	mu      sync.Mutex
	asked   map[string]bool   // of the keyring
	kept    map[string]string // by the keyring
	ringErr error             // why it is asked no more; nil while it answers
	file    map[string]string
	fileErr error
	given   map[string]string // for this process
}

// Hider keeps values out of texts.
type Hider interface {
	// Name is told of a value and of the name that it goes by.
	Name(name, value string)
	// Renew is told of values that others of the same name will take the place of.
	Renew(name string, values ...string)
}

// New makes the keys of one process. path is that of the file, empty where there is no place
// for one; hide is told of each value before anybody else has it.
func New(getenv func(string) (string, bool), path string, ring Ring, hide Hider) *Keys {
	return &Keys{getenv: getenv, path: path, ring: ring, hide: hide, asked: map[string]bool{}, kept: map[string]string{}, given: map[string]string{}}
}

// Path is the file of keys, there or not.
func (k *Keys) Path() string { return k.path }

// Expect reads the file anew and asks the keyring for those of the names that are not in the
// environment and were not asked for yet, all at once.
func (k *Keys) Expect(names []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.file, k.fileErr = readFile(k.path)
	for name, value := range k.file {
		k.learn(name, value)
	}
	k.ask(slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		v, _ := k.getenv(name)
		return v != ""
	}))
}

// learn has a value hidden. Of a login it is the tokens, which change.
func (k *Keys) learn(name, value string) {
	if l, err := sdk.ParseLogin(value); err == nil {
		k.hide.Renew(name, l.Secrets()...)
		return
	}
	k.hide.Name(name, value)
}

// Again has the keyring asked once more for what was asked for before.
func (k *Keys) Again() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ringErr = nil
	clear(k.asked)
	clear(k.kept)
}

// Unasked says why the keyring is not asked; nil while it answers.
func (k *Keys) Unasked() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.ringErr
}

// Find is the value of a key. The error is not_found; it says where was looked and how to give
// the key.
func (k *Keys) Find(name string) (string, error) {
	value, _, err := k.find(name)
	return value, err
}

// Place says where a key is, as in "its key is ..."; it is empty where there is none.
func (k *Keys) Place(name string) string {
	_, place, err := k.find(name)
	if err != nil {
		return ""
	}
	return k.in(place)
}

// in is a place for people.
func (k *Keys) in(place Place) string {
	switch place {
	case File:
		return "in " + k.path
	case Memory:
		return "known to this daemon until it ends"
	}
	return "in the " + string(place)
}

func (k *Keys) find(name string) (string, Place, error) {
	if v, _ := k.getenv(name); v != "" {
		return v, Environment, nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ask([]string{name})
	for _, s := range []struct {
		place Place
		keys  map[string]string
	}{{Keyring, k.kept}, {File, k.file}, {Memory, k.given}} {
		if v := s.keys[name]; v != "" {
			return v, s.place, nil
		}
	}
	return "", "", sdk.Errorf(sdk.NotFound, "the secret %[1]s is not set: `bothy auth login %[1]s` gives it. It is not in the environment of the daemon, not in the keyring%[2]s and not in %[3]s; `bothy run` where %[1]s is exported gives it until the daemon ends",
		name, because(k.ringErr), k.fileSays())
}

// fileSays names the file, and what is wrong with it. It needs k.mu.
func (k *Keys) fileSays() string {
	if k.path == "" {
		return "a file, for which there is no place"
	}
	return k.path + because(k.fileErr)
}

// because is a reason in brackets.
func because(err error) string {
	if err == nil {
		return ""
	}
	return fmt.Sprintf(" (%s)", strings.TrimSuffix(err.Error(), "."))
}

// ask asks the keyring for what it was not asked for yet. It needs k.mu, for askTime at most.
func (k *Keys) ask(names []string) {
	if k.ringErr != nil {
		return
	}
	var want []string
	for _, name := range names {
		if !k.asked[name] {
			want = append(want, name)
			k.asked[name] = true
		}
	}
	if len(want) == 0 {
		return
	}
	found, err := bounded(context.Background(), askTime, func(ctx context.Context) (map[string]string, error) { return k.ring.Read(ctx, want) })
	for name, value := range found {
		k.learn(name, value)
	}
	maps.Copy(k.kept, found)
	k.ringErr = err
}
