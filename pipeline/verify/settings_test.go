package verify

import (
	"strings"
	"testing"
	"time"
)

func TestSettingsHaveLimits(t *testing.T) {
	t.Parallel()
	if faults := DefaultSettings().Validate(); len(faults) != 0 {
		t.Errorf("the defaults: %v", faults)
	}
	for key, change := range map[string]func(*Settings){
		"batch-room": func(s *Settings) { s.BatchRoom = 0 }, "give-up": func(s *Settings) { s.GiveUp = time.Second },
		"cache": func(s *Settings) { s.Cache = 25 * time.Hour }, "keep": func(s *Settings) { s.Retention = time.Minute }, "misses": func(s *Settings) { s.EnumerationThreshold = -1 },
	} {
		s := DefaultSettings()
		change(&s)
		if faults := s.Validate(); len(faults) != 1 || !strings.Contains(faults[0].Error(), key) {
			t.Errorf("%s: got %v", key, faults)
		}
	}
	bad := Settings{BatchRoom: 1 << 20, GiveUp: 30 * 24 * time.Hour, Cache: -1, Retention: -1, EnumerationThreshold: -1}
	if faults := bad.Validate(); len(faults) != 5 {
		t.Errorf("got %v", faults)
	}
}
