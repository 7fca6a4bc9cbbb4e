package credential

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/godbus/dbus/v5"
)

// The names of the Secret Service (https://specifications.freedesktop.org/secret-service/latest/).
const (
	ssName    = "org.freedesktop.secrets"
	ssPath    = dbus.ObjectPath("/org/freedesktop/secrets")
	ssDefault = dbus.ObjectPath("/org/freedesktop/secrets/aliases/default")
	ssService = "org.freedesktop.Secret.Service."
	ssCollect = "org.freedesktop.Secret.Collection."
	ssItem    = "org.freedesktop.Secret.Item."
)

// SecretService is the keyring of a Linux desktop, at a D-Bus address. A connection is made for
// each call and ends with it. Secrets cross the session bus as they are, which is the user's own.
type SecretService struct{ Address string }

// sessionBus is the keyring behind the user's session bus. No bus is started.
func sessionBus(getenv func(string) (string, bool)) Ring {
	if address, _ := getenv("DBUS_SESSION_BUS_ADDRESS"); address != "" {
		return SecretService{address}
	}
	if dir, _ := getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		path := filepath.Join(dir, "bus")
		if info, err := os.Stat(path); err == nil && info.Mode().Type() == os.ModeSocket {
			return SecretService{"unix:path=" + dbus.EscapeBusAddressValue(path)}
		}
	}
	return none{"no session bus runs"}
}

// secret is a value on the bus: (oayays).
type secret struct {
	Session     dbus.ObjectPath
	Parameters  []byte
	Value       []byte
	ContentType string
}

// errLocked says that a key is there and cannot be had.
var errLocked = errors.New("it is locked; unlock it, and `bothy config reload` asks again")

// Read implements Ring. What is locked is left alone: to unlock it the desktop would ask the
// person, whenever a daemon starts.
func (s SecretService) Read(ctx context.Context, names []string) (map[string]string, error) {
	bus, session, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = bus.Close() }() // nothing is left to be said
	found, isLocked := map[string]string{}, false
	for _, name := range names {
		open, locked, err := search(ctx, bus, name)
		if err != nil {
			return found, err
		}
		if isLocked = isLocked || len(locked) > 0 && len(open) == 0; len(open) == 0 {
			continue
		}
		var values map[dbus.ObjectPath]secret
		if err := bus.Object(ssName, ssPath).CallWithContext(ctx, ssService+"GetSecrets", 0, open[:1], session).Store(&values); err != nil {
			return found, plain(err)
		}
		found[name] = string(values[open[0]].Value)
	}
	if isLocked {
		return found, errLocked
	}
	return found, nil
}

// Write implements Ring.
func (s SecretService) Write(ctx context.Context, name, value string) error {
	bus, session, err := s.open(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = bus.Close() }() // nothing is left to be said
	properties := map[string]dbus.Variant{
		ssItem + "Label":      dbus.MakeVariant("Bothy: " + name),
		ssItem + "Attributes": dbus.MakeVariant(attributes(name)),
	}
	var item, prompt dbus.ObjectPath
	err = bus.Object(ssName, ssDefault).CallWithContext(ctx, ssCollect+"CreateItem", 0,
		properties, secret{session, []byte{}, []byte(value), "text/plain; charset=utf8"}, true).Store(&item, &prompt)
	if err == nil && item == "/" {
		return errLocked
	}
	return plain(err)
}

// Remove implements Ring.
func (s SecretService) Remove(ctx context.Context, name string) (bool, error) {
	bus, _, err := s.open(ctx)
	if err != nil {
		return false, err
	}
	defer func() { _ = bus.Close() }() // nothing is left to be said
	open, locked, err := search(ctx, bus, name)
	if err != nil {
		return false, err
	}
	for _, item := range open {
		var prompt dbus.ObjectPath
		err := bus.Object(ssName, item).CallWithContext(ctx, ssItem+"Delete", 0).Store(&prompt)
		if err == nil && prompt != "/" {
			err = errLocked
		}
		if err != nil {
			return false, plain(err)
		}
	}
	if len(locked) > 0 {
		return false, errLocked
	}
	return len(open) > 0, nil
}

// open connects and opens a session in which secrets are not encrypted.
func (s SecretService) open(ctx context.Context) (*dbus.Conn, dbus.ObjectPath, error) {
	bus, err := dbus.Connect(s.Address, dbus.WithContext(ctx))
	if err != nil {
		return nil, "", fmt.Errorf("the session bus cannot be reached: %w", err)
	}
	var output dbus.Variant
	var session dbus.ObjectPath
	err = bus.Object(ssName, ssPath).CallWithContext(ctx, ssService+"OpenSession", 0, "plain", dbus.MakeVariant("")).Store(&output, &session)
	if err != nil {
		_ = bus.Close() // the error of the call says more
		return nil, "", plain(err)
	}
	return bus, session, nil
}

func search(ctx context.Context, bus *dbus.Conn, name string) (open, locked []dbus.ObjectPath, err error) {
	err = bus.Object(ssName, ssPath).CallWithContext(ctx, ssService+"SearchItems", 0, attributes(name)).Store(&open, &locked)
	return open, locked, plain(err)
}

// attributes are what a key is found by.
func attributes(name string) map[string]string {
	return map[string]string{"service": service, "username": name}
}

// plain says what an error of the bus means.
func plain(err error) error {
	var said dbus.Error
	if !errors.As(err, &said) {
		return err
	}
	switch said.Name {
	case "org.freedesktop.DBus.Error.ServiceUnknown":
		return errors.New("there is none: nobody on the session bus is a Secret Service")
	case "org.freedesktop.Secret.Error.IsLocked":
		return errLocked
	}
	return err
}
