package cassette

import (
	"crypto/sha256"
	"fmt"

	"github.com/bothyd/bothy/sdk"
)

// described is a message whose images stand in its text: a cassette has no pictures, and knows by
// the digest of the data whether it is another. Fences are without what is another in each run.
func described(m sdk.Message) sdk.Message {
	m.Text = sdk.Unmarked(m.Text)
	for _, x := range m.Media {
		m.Text += fmt.Sprintf("\n[%s, sha256 %x]", x, sha256.Sum256([]byte(x.Data)))
	}
	m.Media = nil
	return m
}
