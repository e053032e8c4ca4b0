package webhook_test

import (
	"errors"
	"fmt"
	"time"

	"vayu/dispatch/webhook"
)

func ExampleVerify() {
	signedAt := time.Unix(1795000000, 0)
	body := []byte(`{"id":"evt_1"}`)
	header := webhook.Sign(body, signedAt, "new secret", "old secret") // as while a secret is being replaced

	fmt.Println(webhook.Verify(body, header, signedAt, "old secret"))
	fmt.Println(webhook.Verify(body, header, signedAt.Add(6*time.Minute), "old secret"))
	fmt.Println(errors.Is(webhook.Verify(body, header, signedAt, "another"), webhook.ErrMismatch))
	// Output:
	// <nil>
	// the signature is too old: 6m0s
	// true
}

func ExampleSign() {
	fmt.Println(webhook.Sign([]byte(`{"id":"evt_1"}`), time.Unix(1795000000, 0), "whsec_of_the_subscription"))
	// Output:
	// t=1795000000,v1=0316a31ce5f171de52aa4010de6bb40bacd4bd68c79256235ece920f7f4d69d4
}
