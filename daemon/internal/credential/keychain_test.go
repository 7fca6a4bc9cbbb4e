package credential

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// security plays the program of macOS: items are files in the folder where it lies. It writes
// down its arguments and its environment.
const security = `#!/bin/sh
cd "$(dirname "$0")" || exit 1
echo "$0 $*" >>arguments
env >>environment
case $1 in
-i)
	IFS= read -r line
	set -- $line
	[ "$1 $2 $3 $4 $5 $7 $9" = "add-generic-password -U -s bothy -a -l -w" ] || { echo "security: usage" >&2; exit 0; }
	[ "$6" = REFUSED ] && { echo "security: SecKeychainItemCreateFromContent: denied" >&2; exit 0; }
	shift 9
	eval "printf '%s' \"\$1\"" >"item-${line##*-l bothy-}" && mv "item-${line##*-l bothy-}" "item.$(printf '%s' "${line##*-a }" | cut -d' ' -f1)"
	;;
find-generic-password)
	[ -f "item.$5" ] || { echo "security: The specified item could not be found in the keychain." >&2; exit 44; }
	cat "item.$5"
	echo
	;;
delete-generic-password) rm "item.$5" 2>/dev/null || exit 44 ;;
esac
`

// TestKeychain: the bytes that come back are those that went in, and none of them is an argument.
func TestKeychain(t *testing.T) {
	dir, ctx := t.TempDir(), context.Background()
	program := filepath.Join(dir, "security")
	if err := os.WriteFile(program, []byte(security), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SOME_KEY", "canary-environment")
	ring := Keychain{program}
	if found, err := ring.Read(ctx, []string{"A"}); err != nil || len(found) != 0 {
		t.Errorf("an empty one has %v, %v", found, err)
	}
	value := "canary-4711 'x' \"y\"\nsecond line ü"
	if err := ring.Write(ctx, "A", value); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "item.BY_HAND"), []byte("plain-text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if found, err := ring.Read(ctx, []string{"A", "B", "BY_HAND"}); err != nil || !maps.Equal(found, map[string]string{"A": value, "BY_HAND": "plain-text"}) {
		t.Errorf("found %q, %v", found, err)
	}
	if err := ring.Write(ctx, "REFUSED", "x"); err == nil || !strings.Contains(err.Error(), "denied") {
		t.Errorf("refused: %v", err)
	}
	for name, value := range map[string]string{"A B": "x", "A;x": "x", "LONG": strings.Repeat("x", longestCommand)} {
		if err := ring.Write(ctx, name, value); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if gone, err := ring.Remove(ctx, "A"); !gone || err != nil {
		t.Errorf("removed: %v, %v", gone, err)
	}
	if gone, err := ring.Remove(ctx, "A"); gone || err != nil {
		t.Errorf("removed again: %v, %v", gone, err)
	}
	for _, file := range []string{"arguments", "environment"} {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil || len(text) == 0 || strings.Contains(string(text), "canary") || strings.Contains(string(text), "Y2FuYXJ5") {
			t.Errorf("%s: %s, %v", file, text, err)
		}
	}
}
