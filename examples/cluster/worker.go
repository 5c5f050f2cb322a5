package main

import (
	"context"
	"flag"
	"os"
	"strings"

	"github.com/apache/beam/sdks/v2/go/container/tools"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"
)

// becomeWorker sets the flags with which beam.Init turns this process into a worker. A
// runner starts it with -id and -provision_endpoint, as -environment_type=PROCESS says; all
// else the endpoint tells.
func becomeWorker(ctx context.Context, endpoint string) error {
	id := flag.Lookup("id").Value.String()
	info, err := tools.ProvisionInfo(grpcx.WriteWorkerID(ctx, id), endpoint)
	if err != nil {
		return err
	}
	for name, value := range map[string]string{
		"worker":           "true",
		"logging_endpoint": info.GetLoggingEndpoint().GetUrl(),
		"control_endpoint": info.GetControlEndpoint().GetUrl(),
	} {
		if err := flag.Set(name, value); err != nil {
			return err
		}
	}
	return os.Setenv("RUNNER_CAPABILITIES", strings.Join(info.GetRunnerCapabilities(), " "))
}
