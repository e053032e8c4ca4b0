package config

import "fmt"

// Switch is a setting that is on or off, as in --rate-limits off.
type Switch bool

// UnmarshalText reads on, off, true or false.
func (s *Switch) UnmarshalText(text []byte) error {
	switch string(text) {
	case "on", "true":
		*s = true
	case "off", "false":
		*s = false
	default:
		return fmt.Errorf("%q is neither on nor off", text)
	}
	return nil
}

// MarshalText writes on or off.
func (s Switch) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// String is "on" or "off".
func (s Switch) String() string {
	if s {
		return "on"
	}
	return "off"
}
