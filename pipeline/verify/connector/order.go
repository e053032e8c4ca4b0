package connector

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"vayu/pipeline/httpconnector"
	"vayu/pipeline/verify"
	"vayu/schema"
)

// Deposit implements verify.Bank.
func (b *bank) Deposit(ctx context.Context, o verify.Order) (verify.Answer, error) {
	return b.ask(ctx, deposit, o)
}

// Enquire implements verify.Bank.
func (b *bank) Enquire(ctx context.Context, o verify.Order) (verify.Answer, error) {
	return b.ask(ctx, enquire, o)
}

// Resolve implements verify.Bank.
func (b *bank) Resolve(ctx context.Context, o verify.Order) (verify.Answer, error) {
	return b.ask(ctx, resolve, o)
}

func (b *bank) ask(ctx context.Context, call string, o verify.Order) (verify.Answer, error) {
	reply, err := b.client.Call(ctx, call, map[string]any{
		ourName: o.Reference, theirName: o.ProviderRef, "account": o.Account, "ifsc": o.IFSC, "vpa": o.VPA,
		"created_at": o.CreatedAt.UTC().Format(time.RFC3339),
	})
	switch {
	case errors.Is(err, httpconnector.ErrNotAsked):
		return verify.Answer{}, fmt.Errorf("%w: %w", verify.ErrNotAsked, err)
	case errors.Is(err, httpconnector.ErrNotSent):
		return verify.Answer{}, fmt.Errorf("%w: %w", verify.ErrNotSent, err)
	case err != nil:
		return verify.Answer{}, err
	}
	if err := reply.About(ourName, o.Reference); err != nil {
		return verify.Answer{}, fmt.Errorf("calling %q: %w", call, err)
	}
	return answer(reply), nil
}

// Receive implements verify.Receiver.
func (b *bank) Receive(header http.Header, body []byte, now time.Time) (verify.Told, error) {
	reply, err := b.client.Receive(header, body, now)
	if err != nil {
		return verify.Told{}, httpconnector.Refusal(err)
	}
	return verify.Told{Reference: reply.Fields[ourName], Answer: answer(reply)}, nil
}

// mostText is how many characters of a name are shown: banks keep up to some
// hundred.
const mostText = 200

// answer is what an answer means whose status is mapped. What a bank says of an
// account beside saying that there is none is nothing.
func answer(reply httpconnector.Reply) verify.Answer {
	a := verify.Answer{Outcome: outcomes[reply.Fields["status"]], ProviderRef: httpconnector.Name(reply.Fields[theirName])}
	switch a.Outcome {
	case verify.Unknown, verify.NotMade: // there is no deposit
	case verify.Pending, verify.Found, verify.NotFound:
		a.UTR = httpconnector.Name(reply.Fields["utr"])
	}
	if a.Outcome == verify.Found {
		a.Account = verify.Account{
			Name:    httpconnector.Line(reply.Fields["name"], mostText),
			Bank:    httpconnector.Line(reply.Fields["bank"], mostText),
			Branch:  httpconnector.Line(reply.Fields["branch"], mostText),
			Status:  schema.AccountStatus(reply.Fields["account_status"]),
			Reasons: slices.DeleteFunc(reply.Lists["reasons"], func(code string) bool { return code == none }),
		}
		if len(a.Account.Reasons) == 0 {
			a.Account.Reasons = nil
		}
	}
	return a
}
