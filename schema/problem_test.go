package schema_test

import (
	"testing"

	"vayu/schema"
)

func TestEveryCodeHasAnErrorStatus(t *testing.T) {
	t.Parallel()
	for code, status := range schema.CodeStatus {
		if status < 400 || status > 599 || code.Status() != status {
			t.Errorf("%s has status %d", code, status)
		}
	}
	if got := schema.Code("no such").Status(); got != 500 {
		t.Errorf("an unknown code has status %d, want 500", got)
	}
	for code, want := range map[schema.Code]bool{schema.InvalidRequest: false, schema.ServiceUnavailable: true} {
		if got := schema.NewProblem(code, "", "").Retryable; got != want {
			t.Errorf("a problem with the code %s has Retryable = %v, want %v", code, got, want)
		}
	}
}
