package columnstore_test

import (
	"strings"
	"testing"
	"time"

	"vayu/internal/columnstore"
)

func TestStorageValidate(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]columnstore.Storage{
		"keep-readings": {KeepReadings: 24 * time.Hour},
		"keep-hours":    {KeepHours: 1000*time.Hour + time.Minute},
		"policy":        {ColdAfter: 24 * time.Hour, ColdVolume: "cold"},
		"cold-volume":   {ColdAfter: 24 * time.Hour, Policy: "tiered", ColdVolume: "c'old"},
	} {
		faults := s.Validate()
		if len(faults) != 1 || !strings.Contains(faults[0].Error(), want) {
			t.Errorf("%+v gave %v, want one fault about %s", s, faults, want)
		}
	}
}
