package config

import (
	"fmt"
	"io"
	"log/slog"
)

// mask replaces a secret in all output.
const mask = "***"

// Secret is a text that is never shown. fmt, slog, JSON and YAML write "***", or nothing for an empty secret. The text
// is behind a pointer, so that fmt cannot print it even if the Secret is an unexported field of a struct.
type Secret struct{ text *string }

// NewSecret wraps a text.
func NewSecret(text string) Secret {
	if text == "" {
		return Secret{}
	}
	return Secret{text: &text}
}

// Reveal returns the text itself.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// IsSet reports whether there is a text.
func (s Secret) IsSet() bool { return s.text != nil }

// Equal compares the texts. It does not run in constant time: use crypto/subtle for input of clients.
func (s Secret) Equal(other Secret) bool { return s.Reveal() == other.Reveal() }

// String is "***", or empty for an empty secret.
func (s Secret) String() string {
	if s.IsSet() {
		return mask
	}
	return ""
}

// Format writes String for every verb, %#v and %x included.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// LogValue returns the text that slog writes: "***", or "" for an empty secret.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText is the JSON and YAML form. A marshalled secret cannot be read back.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText stores the text; it never fails.
func (s *Secret) UnmarshalText(text []byte) error {
	*s = NewSecret(string(text))
	return nil
}
