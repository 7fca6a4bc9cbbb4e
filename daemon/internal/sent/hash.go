package sent

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strconv"

	"github.com/bothyd/bothy/sdk"
)

// Hash is the SHA-256, in hex, of messages as they are sent, the system text as the first of them when there is one. Each member
// is written with its length before it, as a netstring, so that no two lists of messages come to the same bytes. Skill, which no
// server is sent, is not among them.
func Hash(system string, messages []sdk.Message) string {
	h := &hasher{Hash: sha256.New()}
	if system != "" {
		h.message(&sdk.Message{Role: sdk.RoleSystem, Text: system})
	}
	for i := range messages {
		h.message(&messages[i])
	}
	return hex.EncodeToString(h.Sum(nil))
}

type hasher struct {
	hash.Hash
	scratch []byte
}

func (h *hasher) message(m *sdk.Message) {
	h.text(string(m.Role))
	h.text(m.Text)
	h.text(m.Reasoning)
	h.number(len(m.Calls))
	for i := range m.Calls {
		h.text(m.Calls[i].ID)
		h.text(m.Calls[i].Tool)
		h.text(m.Calls[i].Arguments)
	}
	h.text(m.CallID)
	h.text(m.Tool)
	h.text(strconv.FormatBool(m.Failed))
	h.number(len(m.Media))
	for i := range m.Media {
		h.text(m.Media[i].Kind)
		h.text(m.Media[i].MIMEType)
		h.text(m.Media[i].Data)
	}
	h.text(string(m.Extra))
}

func (h *hasher) number(n int) { h.text(strconv.Itoa(n)) }

// text writes a netstring. The bytes go to the hash in pieces, for a text is not copied whole.
func (h *hasher) text(s string) {
	h.scratch = append(strconv.AppendInt(h.scratch[:0], int64(len(s)), 10), ':')
	for {
		n := min(len(s), piece)
		h.scratch = append(h.scratch, s[:n]...)
		if s = s[n:]; s == "" {
			break
		}
		_, _ = h.Write(h.scratch)
		h.scratch = h.scratch[:0]
	}
	h.scratch = append(h.scratch, ',')
	_, _ = h.Write(h.scratch)
}

// piece is how much is copied at a time.
const piece = 32 << 10
