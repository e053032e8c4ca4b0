package public

import (
	"strings"
	"testing"
)

func TestSettingIsAWorld(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"": "", "live": "live", "sandbox": "sandbox", "true": "error", "Live": "error"} {
		var s Setting
		err := s.UnmarshalText([]byte(text))
		world, on := s.World()
		got := ""
		switch {
		case err != nil:
			if got = "error"; !strings.Contains(err.Error(), `"`+text+`" must be live or sandbox`) {
				t.Errorf("%q: got the error %v", text, err)
			}
		case on:
			got = world.String()
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
