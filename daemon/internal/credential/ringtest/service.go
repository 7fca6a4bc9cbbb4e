// Package ringtest is a Secret Service on a bus of its own, for tests: no desktop and no D-Bus
// daemon is needed. It speaks to each connection as a bus with that one service on it would.
package ringtest

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"net"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/godbus/dbus/v5"
)

// Service is a keyring with one collection.
type Service struct {
	listener net.Listener
	work     sync.WaitGroup

	mu     sync.Mutex
	keys   map[string]string
	locked bool
	silent bool
	gone   bool
	calls  map[string]int // by member
	open   map[net.Conn]bool
}

// Start serves at a socket in a folder.
func Start(dir string) (*Service, error) {
	l, err := net.Listen("unix", path.Join(dir, "bus"))
	if err != nil {
		return nil, err
	}
	s := &Service{listener: l, keys: map[string]string{}, calls: map[string]int{}, open: map[net.Conn]bool{}}
	s.work.Go(s.accept)
	return s, nil
}

// Address is what DBUS_SESSION_BUS_ADDRESS has to be.
func (s *Service) Address() string {
	return "unix:path=" + dbus.EscapeBusAddressValue(s.listener.Addr().String())
}

// Close ends all connections.
func (s *Service) Close() {
	_ = s.listener.Close() // once
	s.mu.Lock()
	for c := range s.open {
		_ = c.Close()
	}
	s.mu.Unlock()
	s.work.Wait()
}

// Set keeps a key.
func (s *Service) Set(name, value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys[name] = value
}

// Keys are those that are kept.
func (s *Service) Keys() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.keys)
}

// Calls says how often a member was called, as "SearchItems".
func (s *Service) Calls(member string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[member]
}

// Lock locks the collection, or unlocks it.
func (s *Service) Lock(locked bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.locked = locked
}

// Silence has it answer nothing any more, also not a connection's first words, or answer again.
func (s *Service) Silence(silent bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.silent = silent
}

// Leave has the bus be without a Secret Service.
func (s *Service) Leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = true
}

func (s *Service) accept() {
	for {
		c, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.open[c] = true
		s.mu.Unlock()
		s.work.Go(func() {
			_ = s.serve(c) // the other side went away
			_ = c.Close()
			s.mu.Lock()
			delete(s.open, c)
			s.mu.Unlock()
		})
	}
}

func (s *Service) isSilent() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.silent
}

// serve is one connection: its greeting, then its calls.
func (s *Service) serve(c net.Conn) error {
	in := bufio.NewReader(c)
	if _, err := in.ReadByte(); err != nil { // the null byte
		return err
	}
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return err
		}
		if s.isSilent() {
			continue
		}
		answer := ""
		switch words := strings.Fields(line); {
		case len(words) == 1 && words[0] == "AUTH":
			answer = "REJECTED EXTERNAL"
		case words[0] == "AUTH":
			answer = "OK 0123456789abcdef0123456789abcdef"
		case words[0] == "NEGOTIATE_UNIX_FD":
			answer = "ERROR"
		case words[0] == "BEGIN":
			return s.calling(c, in)
		default:
			return fmt.Errorf("%q is no greeting", line)
		}
		if _, err := io.WriteString(c, answer+"\r\n"); err != nil {
			return err
		}
	}
}

func (s *Service) calling(c net.Conn, in *bufio.Reader) error {
	for {
		call, err := dbus.DecodeMessage(in)
		if err != nil {
			return err
		}
		body, failed := s.answer(call)
		if s.isSilent() {
			continue
		}
		reply := &dbus.Message{Type: dbus.TypeMethodReply, Headers: map[dbus.HeaderField]dbus.Variant{
			dbus.FieldReplySerial: dbus.MakeVariant(call.Serial()), dbus.FieldDestination: dbus.MakeVariant(":1.1"),
		}}
		if failed != "" {
			reply.Type, body = dbus.TypeError, []any{"it cannot"}
			reply.Headers[dbus.FieldErrorName] = dbus.MakeVariant(failed)
		}
		if len(body) > 0 {
			reply.Body = body
			reply.Headers[dbus.FieldSignature] = dbus.MakeVariant(dbus.SignatureOf(body...))
		}
		var text bytes.Buffer
		if err := reply.EncodeTo(&text, binary.LittleEndian); err != nil {
			return err
		}
		text.Bytes()[8] = 1 // the serial, which is never 0
		if _, err := c.Write(text.Bytes()); err != nil {
			return err
		}
	}
}

// secret is a value on the bus: (oayays).
type secret struct {
	Session     dbus.ObjectPath
	Parameters  []byte
	Value       []byte
	ContentType string
}

const session = dbus.ObjectPath("/org/freedesktop/secrets/session/1")

// answer is the body of an answer, or the name of an error.
func (s *Service) answer(call *dbus.Message) (body []any, failed string) {
	member, _ := call.Headers[dbus.FieldMember].Value().(string)
	at, _ := call.Headers[dbus.FieldPath].Value().(dbus.ObjectPath)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[member]++
	defer func() {
		if r := recover(); r != nil { // a call with another body
			body, failed = nil, "org.freedesktop.DBus.Error.InvalidArgs"
		}
	}()
	if to, _ := call.Headers[dbus.FieldDestination].Value().(string); s.gone && to == "org.freedesktop.secrets" {
		return nil, "org.freedesktop.DBus.Error.ServiceUnknown"
	}
	switch member {
	case "Hello":
		return []any{":1.1"}, ""
	case "OpenSession":
		return []any{dbus.MakeVariant(""), session}, ""
	case "SearchItems":
		found := s.search(call.Body[0].(map[string]string))
		if s.locked {
			return []any{[]dbus.ObjectPath{}, found}, ""
		}
		return []any{found, []dbus.ObjectPath{}}, ""
	case "GetSecrets":
		values := map[dbus.ObjectPath]secret{}
		for _, item := range call.Body[0].([]dbus.ObjectPath) {
			values[item] = secret{call.Body[1].(dbus.ObjectPath), []byte{}, []byte(s.keys[nameOf(item)]), "text/plain"}
		}
		return []any{values}, ""
	case "CreateItem":
		return s.create(call.Body)
	case "Delete":
		delete(s.keys, nameOf(at))
		return []any{dbus.ObjectPath("/")}, ""
	}
	return nil, "org.freedesktop.DBus.Error.UnknownMethod"
}

func (s *Service) create(body []any) ([]any, string) {
	if s.locked {
		return []any{dbus.ObjectPath("/"), dbus.ObjectPath("/org/freedesktop/secrets/prompt/1")}, ""
	}
	var attributes map[string]string
	err := body[0].(map[string]dbus.Variant)["org.freedesktop.Secret.Item.Attributes"].Store(&attributes)
	value := body[1].([]any)
	if err != nil || attributes["service"] != "bothy" || attributes["username"] == "" || value[0] != session {
		return nil, "org.freedesktop.DBus.Error.InvalidArgs"
	}
	s.keys[attributes["username"]] = string(value[2].([]byte))
	return []any{itemOf(attributes["username"]), dbus.ObjectPath("/")}, ""
}

// search finds the items with all of the attributes.
func (s *Service) search(attributes map[string]string) []dbus.ObjectPath {
	found := []dbus.ObjectPath{}
	for _, name := range slices.Sorted(maps.Keys(s.keys)) {
		own := map[string]string{"service": "bothy", "username": name}
		fits := true
		for k, v := range attributes {
			fits = fits && own[k] == v
		}
		if fits {
			found = append(found, itemOf(name))
		}
	}
	return found
}

// itemOf is the path of a key, whose name has only what a path may have, and dots.
func itemOf(name string) dbus.ObjectPath {
	return dbus.ObjectPath("/org/freedesktop/secrets/collection/login/" + strings.ReplaceAll(name, ".", "_2e"))
}

func nameOf(item dbus.ObjectPath) string {
	return strings.ReplaceAll(path.Base(string(item)), "_2e", ".")
}
