package webtest

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"

	"golang.org/x/net/dns/dnsmessage"
)

// Names is what a name server answers for a name.
type Names struct {
	// Alias is a full name that the name is another one for (CNAME); the addresses are
	// its own.
	Alias string
	// Addrs are the addresses: those of IPv4 for a question about A, the others for AAAA.
	Addrs []netip.Addr
	// Then is answered from the second question of a kind on, in the place of this.
	Then *Names
}

// Name gives a name of the world addresses, and returns it whole, as Host does.
func (w *World) Name(name string, answer Names) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	host := w.Host(name)
	w.names[host] = answer
	return host
}

// Here gives a name of the world the world's own address.
func (w *World) Here(name string) string {
	return w.Name(name, Names{Addrs: []netip.Addr{w.Addr()}})
}

// Asked is how many questions there were for a whole name, A and AAAA together.
func (w *World) Asked(host string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asked[host+" "+dnsmessage.TypeA.String()] + w.asked[host+" "+dnsmessage.TypeAAAA.String()]
}

// serveNames is the name server, over UDP and TCP.
func (w *World) serveNames() error {
	var config net.ListenConfig
	packets, err := config.ListenPacket(context.Background(), "udp", w.at(53))
	if err != nil {
		return err
	}
	stream, err := config.Listen(context.Background(), "tcp", w.at(53))
	if err != nil {
		_ = packets.Close()
		return err
	}
	w.t.Cleanup(func() {
		_ = packets.Close()
		_ = stream.Close()
	})
	go w.answerPackets(packets)
	go func() {
		for {
			conn, err := stream.Accept()
			if err != nil {
				return // closed
			}
			go w.answerStream(conn)
		}
	}()
	return nil
}

func (w *World) answerPackets(conn net.PacketConn) {
	buffer := make([]byte, 4096)
	for {
		n, from, err := conn.ReadFrom(buffer)
		if err != nil {
			return // closed
		}
		if reply, err := w.answer(buffer[:n]); err == nil {
			_, _ = conn.WriteTo(reply, from) // who does not get it asks again
		}
	}
}

func (w *World) answerStream(conn net.Conn) {
	defer conn.Close()
	for {
		var length [2]byte
		if _, err := io.ReadFull(conn, length[:]); err != nil {
			return
		}
		question := make([]byte, binary.BigEndian.Uint16(length[:]))
		if _, err := io.ReadFull(conn, question); err != nil {
			return
		}
		reply, err := w.answer(question)
		if err != nil {
			return
		}
		if _, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...)); err != nil {
			return
		}
	}
}

// answer is the reply to one question. A name that nobody gave is said not to be there.
func (w *World) answer(packet []byte) ([]byte, error) {
	var m dnsmessage.Message
	if err := m.Unpack(packet); err != nil {
		return nil, err
	}
	if len(m.Questions) != 1 {
		return nil, errors.New("not one question")
	}
	q := m.Questions[0]
	names, there := w.take(strings.TrimSuffix(strings.ToLower(q.Name.String()), "."), q.Type)
	reply := dnsmessage.Message{Header: dnsmessage.Header{ID: m.ID, Response: true, Authoritative: true, RecursionAvailable: true}, Questions: m.Questions}
	if !there {
		reply.RCode = dnsmessage.RCodeNameError
		return reply.Pack()
	}
	owner := q.Name
	if names.Alias != "" {
		alias, err := dnsmessage.NewName(names.Alias + ".")
		if err != nil {
			return nil, err
		}
		reply.Answers = append(reply.Answers, dnsmessage.Resource{Header: head(owner, dnsmessage.TypeCNAME), Body: &dnsmessage.CNAMEResource{CNAME: alias}})
		owner = alias
	}
	for _, addr := range names.Addrs {
		switch {
		case addr.Is4() && q.Type == dnsmessage.TypeA:
			reply.Answers = append(reply.Answers, dnsmessage.Resource{Header: head(owner, q.Type), Body: &dnsmessage.AResource{A: addr.As4()}})
		case !addr.Is4() && q.Type == dnsmessage.TypeAAAA:
			reply.Answers = append(reply.Answers, dnsmessage.Resource{Header: head(owner, q.Type), Body: &dnsmessage.AAAAResource{AAAA: addr.As16()}})
		}
	}
	return reply.Pack()
}

// take is what is answered this time.
func (w *World) take(host string, kind dnsmessage.Type) (Names, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	names, there := w.names[host]
	again := w.asked[host+" "+kind.String()]
	w.asked[host+" "+kind.String()]++
	for ; again > 0 && names.Then != nil; again-- {
		names = *names.Then
	}
	return names, there
}

func head(name dnsmessage.Name, kind dnsmessage.Type) dnsmessage.ResourceHeader {
	return dnsmessage.ResourceHeader{Name: name, Type: kind, Class: dnsmessage.ClassINET}
}
