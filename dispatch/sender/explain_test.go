package sender

import (
	"strings"
	"testing"
	"time"
)

func TestTextsAreShort(t *testing.T) {
	t.Parallel()
	texts := []string{
		textURL, textStopped, textAddress, textNoName, textName, textNoListen, textNoRoute, textHost, textAuthority, textExpired,
		textBadCert, textNoTLS, textAlert, textHandshake, textCut, textClosed, textHeader, textNoHTTP, textRequest,
	}
	for status := range 1000 {
		texts = append(texts, refusal(status))
	}
	for _, stage := range stages {
		texts = append(texts, slowness(stage, 4999*time.Millisecond))
	}
	for _, text := range texts {
		switch {
		case len(text) > 200:
			t.Errorf("len(text) = %v, want at most 200", len(text))
		case text == "":
			t.Error("text is empty")
		case strings.ContainsAny(text, "\n%"):
			t.Errorf("%q is no text for an attempt", text)
		case strings.HasSuffix(text, "."):
			t.Error("strings.HasSuffix(text, \".\") is true")
		}
	}
}
