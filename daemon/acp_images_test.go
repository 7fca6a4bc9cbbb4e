//go:build linux

package daemon

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coder/acp-go-sdk"
)

// dot is a picture of one pixel.
const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="

// TestEditorImages: an image of a prompt reaches the model, with this prompt and the next, also once the daemon has died; who
// loads the session gets it back. For a model that takes none it is refused, and what was shown before is left out.
func TestEditorImages(t *testing.T) {
	s := newSeat(t, 80, 24)
	url, end := (&parrot{}).serve("parrot", "blind")
	defer end()
	s.write(".config/bothy/config.hcl", strings.Replace(parrotConfig, `env("MODEL_URL")`, `"`+url+`"`, 1))
	e := s.opens(t)
	id := e.begins().SessionId
	ask := func(text string) error {
		_, err := e.conn.Prompt(e.ctx(), acp.PromptRequest{SessionId: id, Prompt: []acp.ContentBlock{acp.TextBlock(text), acp.ImageBlock(dot, "image/png")}})
		return err
	}
	says := func(want string, times int) {
		t.Helper()
		e.waits(want, func(told []acp.SessionNotification) bool {
			return strings.Count(strings.Join(toldLines(told, id), "\n"), want) == times
		})
	}
	if err := ask("how many images are there?"); err != nil {
		t.Fatal(err)
	}
	says("I see 1 images", 1)
	s.killDaemon()
	e.asks(id, "how many images now?")
	says("I see 1 images", 2)

	again := s.opens(t)
	again.loads(id)
	image := again.tells("the image", func(u acp.SessionUpdate) bool {
		return u.UserMessageChunk != nil && u.UserMessageChunk.Content.Image != nil
	}).UserMessageChunk.Content.Image
	if image.Data != dot || image.MimeType != "image/png" {
		t.Errorf("it is told of %+v", image)
	}

	if _, err := e.conn.SetSessionConfigOption(e.ctx(), acp.SetSessionConfigOptionRequest{ValueId: &acp.SetSessionConfigOptionValueId{SessionId: id, ConfigId: "model", Value: "parrot/blind"}}); err != nil {
		t.Fatal(err)
	}
	if err := ask("how many images are there?"); err == nil || !strings.Contains(err.Error(), "the model parrot/blind takes no images") {
		t.Errorf("a model that takes none: %v", err)
	}
	e.asks(id, "how many images without?")
	says("I see 0 images", 1)
}

// TestRunWithImages: pictures go with a prompt of the command line, and with one that names them in a conversation; a text is none.
func TestRunWithImages(t *testing.T) {
	s := newSeat(t, 80, 24)
	data, err := base64.StdEncoding.DecodeString(dot)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.dir, "dot.png"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := s.bothy("run", "-q", "-r", "shots", "--image", "dot.png", "--image", filepath.Join(s.dir, "dot.png"), "how many images are there?"); !strings.Contains(got, "I see 2 images") {
		t.Error(got)
	}
	if err := os.WriteFile(filepath.Join(s.dir, "a.txt"), []byte("a text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if said, err := s.tries("run", "--image", "a.txt", "how many images are there?"); err == nil || !strings.Contains(said, "image 1 is no picture") {
		t.Errorf("%s, %v", said, err)
	}
	s.sit()
	s.until("> What")
	s.keys("how many images: @dot.png, and none else\r")
	s.until("I see 1 images", "+ image/png of 1 by 1 pixels")
}
