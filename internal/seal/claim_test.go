package seal

import (
	"context"
	"strings"
	"testing"

	"vayu/internal/state"
	"vayu/internal/state/statetest"
)

func TestAStoreHasOneKey(t *testing.T) {
	t.Parallel()
	statetest.Each(t, func(t *testing.T, db *state.DB) {
		ctx := context.Background()
		first, other := testBox(t, 1), testBox(t, 2)
		for range 2 {
			if err := first.Claim(ctx, db); err != nil {
				t.Error(err)
			}
		}
		err := other.Claim(ctx, db)
		if err == nil {
			t.Fatal("another key is taken")
		}
		for _, part := range []string{first.KeyID(), other.KeyID(), "encryption-key", keyName} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q does not name %q", err, part)
			}
		}
		if err := testBox(t, 1).Claim(ctx, db); err != nil {
			t.Error(err)
		}
	})
}
