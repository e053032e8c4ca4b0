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
	if schema.NewProblem(schema.InvalidRequest, "", "").Retryable || !schema.NewProblem(schema.ServiceUnavailable, "", "").Retryable {
		t.Error("retryable must follow from the code")
	}
}
