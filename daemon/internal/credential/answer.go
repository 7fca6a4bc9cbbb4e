package credential

import (
	"context"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Answers answers what clients ask about keys, as the server declares it.
type Answers struct {
	Keys *Keys
	// Uses says who asks for each key in the configuration in force, as "provider openai".
	Uses func() map[string][]string
	// Logins says for which keys a person logs in, each with the block that it is for, as "mcp notes".
	// It may be nil.
	Logins func() map[string]string
	// Reload reads the configuration again, so that what asks for a key that came or went is
	// configured anew.
	Reload func(context.Context) rpc.Reloaded
	Log    hclog.Logger
}

// maxKey is the longest key, in bytes.
const maxKey = 64 << 10

// Login keeps a key and restarts what uses it.
func (a Answers) Login(ctx context.Context, p rpc.KeyLogin) (rpc.KeyKept, error) {
	name, err := a.name(p.Of)
	if err != nil {
		return rpc.KeyKept{}, err
	}
	if err := check(p.Key); err != nil {
		return rpc.KeyKept{}, err
	}
	block, login := a.logins()[name]
	if login {
		l, err := sdk.ParseLogin(p.Key)
		if err != nil {
			return rpc.KeyKept{}, sdk.Errorf(sdk.Validation, "%s is no key that is typed: `bothy %s` makes it", name, strings.Replace(block, "mcp ", "mcp login ", 1))
		}
		if err := l.Check(); err != nil {
			return rpc.KeyKept{}, err
		}
	}
	kept, err := a.Keys.Login(ctx, name, p.Key, p.File)
	if err != nil {
		return rpc.KeyKept{}, err
	}
	a.Log.Info("a key was given", "name", name, "place", kept.Place)
	out := rpc.KeyKept{Name: name, Place: string(kept.Place), File: a.Keys.path, UsedBy: a.users()[name], Warnings: kept.Warnings}
	out.Problems = a.reload(ctx)
	return out, nil
}

// Logout removes a key and restarts what used it.
func (a Answers) Logout(ctx context.Context, p rpc.KeyRef) (rpc.KeyRemoved, error) {
	name, err := a.name(p.Of)
	if err != nil {
		if _, kept := a.all()[p.Of]; !kept {
			return rpc.KeyRemoved{}, err
		}
		name = p.Of // nothing asks for it any more
	}
	from, err := a.Keys.Logout(ctx, name)
	if block, login := a.logins()[name]; login && sdk.OutcomeOf(err) == sdk.NotFound && err != nil {
		return rpc.KeyRemoved{}, sdk.Errorf(sdk.NotFound, "nobody has logged in to %s", strings.TrimPrefix(block, "mcp "))
	}
	if err != nil {
		return rpc.KeyRemoved{}, err
	}
	a.Log.Info("a key was removed", "name", name, "from", from)
	out := rpc.KeyRemoved{Name: name, Problems: a.reload(ctx)}
	for _, place := range from {
		out.From = append(out.From, string(place))
	}
	if _, place, err := a.Keys.find(name); err == nil {
		out.Still = string(place)
	}
	return out, nil
}

// List lists the keys that are asked for or kept.
func (a Answers) List() rpc.Keys {
	out := rpc.Keys{File: a.Keys.path}
	uses := a.users()
	for _, name := range slices.Sorted(maps.Keys(a.all())) {
		_, place, _ := a.Keys.find(name) // none is a key that is missing
		out.Keys = append(out.Keys, rpc.Key{Name: name, Place: string(place), UsedBy: uses[name]})
	}
	if err := a.Keys.Unasked(); err != nil {
		out.Keyring = err.Error()
	}
	a.Keys.mu.Lock()
	defer a.Keys.mu.Unlock()
	if err := a.Keys.fileErr; err != nil {
		out.Problem = err.Error()
	}
	return out
}

// Lacks are the keys that are asked for and are nowhere.
func (a Answers) Lacks() (names []string) {
	for _, name := range slices.Sorted(maps.Keys(a.Uses())) {
		if _, _, err := a.Keys.find(name); err != nil {
			names = append(names, name)
		}
	}
	return names
}

// Give takes keys that are lacked from a client whose process is named in the log, until this
// process ends. It leaves alone what nobody asks for and what is there.
func (a Answers) Give(ctx context.Context, pid int, p rpc.KeysGive) (rpc.KeysTaken, error) {
	uses := a.Uses()
	out := rpc.KeysTaken{Taken: []string{}}
	for _, name := range slices.Sorted(maps.Keys(p.Keys)) {
		if uses[name] == nil {
			continue
		}
		if err := check(p.Keys[name]); err != nil {
			return out, err
		}
		if a.Keys.Give(name, p.Keys[name]) {
			out.Taken = append(out.Taken, name)
			a.Log.Info("a client gave a key that was lacking, from its environment", "name", name, "pid", pid)
		}
	}
	if len(out.Taken) > 0 {
		a.reload(ctx) // what goes wrong is in the log and in status
	}
	return out, nil
}

// reload returns what went wrong.
func (a Answers) reload(ctx context.Context) (problems []string) {
	for _, d := range a.Reload(ctx).Diagnostics {
		if d.Severity == "error" {
			problems = append(problems, d.Text)
		}
	}
	return problems
}

// all are the names that are asked for or kept here.
func (a Answers) all() map[string]bool {
	names := map[string]bool{}
	for name := range a.Uses() {
		names[name] = true
	}
	a.Keys.mu.Lock()
	defer a.Keys.mu.Unlock()
	for _, keys := range []map[string]string{a.Keys.kept, a.Keys.file, a.Keys.given} {
		for name := range keys {
			names[name] = true
		}
	}
	return names
}

func (a Answers) logins() map[string]string {
	if a.Logins == nil {
		return nil
	}
	return a.Logins()
}

// users says who asks for each key, those of logins among them.
func (a Answers) users() map[string][]string {
	users := map[string][]string{}
	maps.Copy(users, a.Uses())
	for name, block := range a.logins() {
		users[name] = append(slices.Clip(users[name]), block)
	}
	return users
}

// name is the key that is meant: by its own name, or by a block that asks for no other.
func (a Answers) name(of string) (string, error) {
	uses := a.Uses()
	if _, login := a.logins()[of]; login || uses[of] != nil {
		return of, nil
	}
	var names, labels []string
	for _, name := range slices.Sorted(maps.Keys(uses)) {
		for _, block := range uses[name] {
			_, label, _ := strings.Cut(block, " ")
			labels = append(labels, label)
			if label == of {
				names = append(names, name)
				break
			}
		}
	}
	switch len(names) {
	case 0:
		slices.Sort(labels)
		return "", sdk.Errorf(sdk.NotFound, "no block of the configuration that is called %q asks for a key, and no key is called so; those that ask for one: %s", of, strings.Join(slices.Compact(labels), ", "))
	case 1:
		return names[0], nil
	}
	return "", sdk.Errorf(sdk.Validation, "%s asks for several keys; name one: %s", of, strings.Join(names, ", "))
}

// check refuses what is no key. The error has nothing of it.
func check(key string) error {
	switch {
	case strings.TrimSpace(key) == "":
		return sdk.Errorf(sdk.Validation, "the key is empty")
	case len(key) > maxKey:
		return sdk.Errorf(sdk.Validation, "the key is longer than 64 KiB")
	case !utf8.ValidString(key) || strings.ContainsRune(key, 0):
		return sdk.Errorf(sdk.Validation, "the key is no text")
	}
	return nil
}
