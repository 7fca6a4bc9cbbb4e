package credential

import (
	"context"
	"fmt"
	"maps"

	"github.com/bothyd/bothy/sdk"
)

// Kept says what became of a key that was given.
type Kept struct {
	Place    Place
	Warnings []string
}

// Login keeps a key: in the file if that is asked for, else in the keyring, else, with a warning,
// until this process ends. A key of that name which would go before it is removed, but for one in
// the environment, of which a warning tells. Where the key cannot be kept the error says why.
func (k *Keys) Login(ctx context.Context, name, value string, inFile bool) (Kept, error) {
	k.learn(name, value)
	k.changing.Lock()
	defer k.changing.Unlock()
	keep := k.keepInRing
	if inFile {
		keep = k.keepInFile
	}
	kept, err := keep(ctx, name, value)
	if v, _ := k.getenv(name); err == nil && v != "" {
		kept.Warnings = append(kept.Warnings, name+" is also in the environment that the daemon was started with, and that goes before: unset it and call `bothy stop`")
	}
	return kept, err
}

// keepInRing needs k.changing.
func (k *Keys) keepInRing(ctx context.Context, name, value string) (Kept, error) {
	_, failed := bounded(ctx, changeTime, func(ctx context.Context) (struct{}, error) { return struct{}{}, k.ring.Write(ctx, name, value) })
	k.mu.Lock()
	defer k.mu.Unlock()
	if failed == nil {
		k.asked[name], k.kept[name] = true, value
		delete(k.given, name)
		return Kept{Place: Keyring}, nil
	}
	if k.file[name] != "" {
		return Kept{}, sdk.Errorf(sdk.Conflict, "the keyring does not keep it%s, and %s has a key of that name, which would go before one that is kept until the daemon ends; --file replaces it, `bothy auth logout %s` removes it", because(failed), k.path, name)
	}
	delete(k.kept, name) // what the keyring had is the older one
	k.given[name] = value
	return Kept{Place: Memory, Warnings: []string{
		fmt.Sprintf("the keyring does not keep it%s: it is known until the daemon ends. With --file it is kept in %s, as text that only you can read", because(failed), k.path),
	}}, nil
}

// keepInFile needs k.changing.
func (k *Keys) keepInFile(ctx context.Context, name, value string) (Kept, error) {
	if err := k.changeFile(func(keys map[string]string) { keys[name] = value }); err != nil {
		return Kept{}, err
	}
	kept := Kept{Place: File}
	if _, err := k.leaveRing(ctx, name); err != nil {
		kept.Warnings = append(kept.Warnings, fmt.Sprintf("the keyring still has another one, which goes before%s", because(err)))
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.given, name)
	return kept, nil
}

// changeFile needs k.changing. A file that cannot be read is not replaced.
func (k *Keys) changeFile(change func(map[string]string)) error {
	if k.path == "" {
		return sdk.Errorf(sdk.Unavailable, "there is no place for a file of keys: set HOME or XDG_CONFIG_HOME")
	}
	was, err := readFile(k.path)
	if err != nil {
		return sdk.Errorf(sdk.Conflict, "%s cannot be used%s", k.path, because(err))
	}
	keys := map[string]string{}
	maps.Copy(keys, was)
	change(keys)
	if err := writeFile(k.path, keys); err != nil {
		return sdk.Errorf(sdk.Unavailable, "%w", err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.file, k.fileErr = keys, nil
	return nil
}

// leaveRing removes a key from the keyring, if it has one. A keyring that cannot be asked has
// nothing that counts, unless it was read before. It needs k.changing.
func (k *Keys) leaveRing(ctx context.Context, name string) (bool, error) {
	k.mu.Lock()
	k.ask([]string{name})
	has := k.kept[name] != ""
	k.mu.Unlock()
	if !has {
		return false, nil
	}
	removed, err := bounded(ctx, changeTime, func(ctx context.Context) (bool, error) { return k.ring.Remove(ctx, name) })
	if err != nil {
		return false, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.kept, name)
	return removed, nil
}

// Renew keeps a value in the place of the one that it comes from, and where that is. The error is
// conflict where another one is kept by now, and not_found where none is.
func (k *Keys) Renew(ctx context.Context, name, was, now string) error {
	k.changing.Lock()
	defer k.changing.Unlock()
	is, place, err := k.find(name)
	switch {
	case err != nil:
		return sdk.Errorf(sdk.NotFound, "%s is kept no more", name)
	case is != was:
		return sdk.Errorf(sdk.Conflict, "another %s is kept by now", name)
	}
	k.learn(name, now)
	switch place {
	case Keyring:
		_, err := bounded(ctx, changeTime, func(ctx context.Context) (struct{}, error) { return struct{}{}, k.ring.Write(ctx, name, now) })
		if err != nil {
			return sdk.Errorf(sdk.Unavailable, "the keyring has %s and does not keep another in its place%s", name, because(err))
		}
		k.mu.Lock()
		defer k.mu.Unlock()
		k.kept[name] = now
		return nil
	case File:
		return k.changeFile(func(keys map[string]string) { keys[name] = now })
	case Memory:
		k.mu.Lock()
		defer k.mu.Unlock()
		k.given[name] = now
		return nil
	}
	return sdk.Errorf(sdk.Conflict, "%s is in the environment that the daemon was started with, where nothing can take its place", name)
}

// Logout removes a key from wherever it is, and returns the places. The error is not_found where
// it was nowhere that can be reached. One in the environment stays.
func (k *Keys) Logout(ctx context.Context, name string) (from []Place, err error) {
	k.changing.Lock()
	defer k.changing.Unlock()
	removed, err := k.leaveRing(ctx, name)
	if err != nil {
		return nil, sdk.Errorf(sdk.Unavailable, "the keyring has %s and does not remove it%s", name, because(err))
	}
	if removed {
		from = append(from, Keyring)
	}
	k.mu.Lock()
	_, inFile := k.file[name]
	_, inMemory := k.given[name]
	delete(k.given, name)
	k.mu.Unlock()
	if inFile {
		if err := k.changeFile(func(keys map[string]string) { delete(keys, name) }); err != nil {
			return from, err
		}
		from = append(from, File)
	}
	if inMemory {
		from = append(from, Memory)
	}
	if len(from) > 0 {
		return from, nil
	}
	if v, _ := k.getenv(name); v != "" {
		return nil, sdk.Errorf(sdk.NotFound, "%s is in the environment that the daemon was started with and nowhere else: unset it and call `bothy stop`", name)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return nil, sdk.Errorf(sdk.NotFound, "there is no key %s: it is not in the keyring%s, not in %s, and not known to the daemon", name, because(k.ringErr), k.fileSays())
}

// Give takes a key for this process alone, where there is none of that name, and reports whether
// it did. What is not taken is told to nobody: else any client could have any text taken for a key.
func (k *Keys) Give(name, value string) bool {
	k.changing.Lock()
	defer k.changing.Unlock()
	if _, _, err := k.find(name); err == nil {
		return false
	}
	k.learn(name, value)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.given[name] = value
	return true
}
