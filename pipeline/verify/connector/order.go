package connector

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"vayu/pipeline/httpconnector"
	"vayu/pipeline/httpconnector/answer"
	"vayu/pipeline/transaction"
	"vayu/pipeline/verify/bank"
	"vayu/schema"
)

// Deposit requests a penny drop. It implements bank.Bank.
func (b *provider) Deposit(ctx context.Context, o bank.Order) (bank.Answer, error) {
	return b.call(ctx, deposit, o)
}

// Enquire requests the state of a penny drop. It implements bank.Bank.
func (b *provider) Enquire(ctx context.Context, o bank.Order) (bank.Answer, error) {
	return b.call(ctx, enquire, o)
}

// Resolve looks up the holder of a UPI address. It implements bank.Bank.
func (b *provider) Resolve(ctx context.Context, o bank.Order) (bank.Answer, error) {
	return b.call(ctx, resolve, o)
}

func (b *provider) call(ctx context.Context, call string, o bank.Order) (bank.Answer, error) {
	reply, err := b.client.Call(ctx, call, map[string]any{
		ourReference: o.Reference, theirReference: o.ProviderRef, "account": o.Account, "ifsc": o.IFSC, "vpa": o.VPA,
		"created_at": schema.FormatTime(o.CreatedAt),
	})
	if err != nil {
		return bank.Answer{}, err
	}
	if err := reply.CheckEcho(ourReference, o.Reference); err != nil {
		return bank.Answer{}, fmt.Errorf("calling %q: %w", call, err)
	}
	return answerOf(reply), nil
}

// Receive verifies and reads a callback. It implements transaction.Receiver.
func (b *provider) Receive(header http.Header, body []byte, now time.Time) (transaction.Message[bank.Answer], error) {
	reply, err := b.client.Receive(header, body, now)
	if err != nil {
		return transaction.Message[bank.Answer]{}, httpconnector.CallbackProblem(err)
	}
	return transaction.Message[bank.Answer]{Reference: reply.Fields[ourReference], Answer: answerOf(reply)}, nil
}

// mostText is the limit of the name of a person, bank or branch, in characters. A longer name is cut.
const mostText = 200

// answerOf converts a reply. Only if the outcome is Found does it read the details of the account.
func answerOf(reply answer.Reply) bank.Answer {
	a := bank.Answer{Outcome: outcomes[reply.Fields["status"]], ProviderRef: httpconnector.CleanReference(reply.Fields[theirReference])}
	switch a.Outcome {
	case bank.Unknown, bank.NotMade: // no deposit
	case bank.Pending, bank.Found, bank.NotFound:
		a.UTR = httpconnector.CleanReference(reply.Fields["utr"])
	}
	if a.Outcome == bank.Found {
		a.Account = bank.Account{
			Name:    httpconnector.CleanText(reply.Fields["name"], mostText),
			Bank:    httpconnector.CleanText(reply.Fields["bank"], mostText),
			Branch:  httpconnector.CleanText(reply.Fields["branch"], mostText),
			Status:  schema.AccountStatus(reply.Fields["account_status"]),
			Reasons: slices.DeleteFunc(reply.Lists["reasons"], func(code string) bool { return code == noReason }),
		}
		if len(a.Account.Reasons) == 0 {
			a.Account.Reasons = nil
		}
	}
	return a
}
