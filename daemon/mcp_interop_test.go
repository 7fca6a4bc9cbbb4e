//go:build interop && linux

package daemon

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// conformanceConfig lets the tools of the suite run but one, about which the person at the client is asked.
const conformanceConfig = `
plugin "conformance" {
  path = %q
}

rule "conformance" {
  decision = "allow"
  tools = [
    "test_simple_text", "test_image_content", "test_audio_content", "test_embedded_resource", "test_multiple_content_types",
    "test_tool_with_logging", "test_tool_with_progress", "test_error_handling", "test_reconnection",
  ]
}
`

// TestInteropConformance: the public conformance suite of MCP has nothing to say against `bothy mcp serve` but what
// is listed, with the reason.
func TestInteropConformance(t *testing.T) {
	suite := os.Getenv("BOTHY_MCP_CONFORMANCE")
	if suite == "" {
		t.Fatal("BOTHY_MCP_CONFORMANCE names no program of @modelcontextprotocol/conformance 0.1.16 (see docs/development.md)")
	}
	plugin := filepath.Join(t.TempDir(), "bothy-plugin-conformance")
	build := exec.Command("go", "build", "-o", plugin, "../bridge/mcp/testdata/conformance")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s := newSeat(t, 80, 24)
	s.write(".config/bothy/config.hcl", parrotConfig+fmt.Sprintf(conformanceConfig, plugin))
	for name, text := range map[string]string{"test-simple-prompt": "This is a simple prompt.", "test-prompt-with-arguments": "The arguments: $ARGUMENTS"} {
		s.write(filepath.Join(".config/bothy/skills", name, "SKILL.md"), fmt.Sprintf("---\nname: %s\ndescription: For a test.\n---\n\n%s\n", name, text))
	}
	w := s.serves(t, "--approve")
	expected, err := filepath.Abs("../bridge/mcp/testdata/conformance.yml")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(suite, "server", "--url", w.url+"?token="+w.token, "--suite", "all", "--expected-failures", expected, "-o", t.TempDir())
	cmd.Dir = t.TempDir()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	t.Logf("%s", tail(string(out), 3000))
}

// tail is the end of a text.
func tail(text string, most int) string { return text[max(0, len(text)-most):] }
