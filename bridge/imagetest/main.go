package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
)

const usage = `usage: imagetest DOCKERFILE TARGET STAGE STAGE_ROOT IMAGE_ROOT

Runs the lines COPY --from=STAGE of stage TARGET as BuildKit does.  STAGE_ROOT is
the root file system of STAGE.  IMAGE_ROOT is that of the image that TARGET is
based on, and has in it afterwards what was copied.
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if len(os.Args) != 6 {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	if err := run(ctx, os.Args[1], os.Args[2], os.Args[3], os.Args[4], os.Args[5]); err != nil {
		fmt.Fprintln(os.Stderr, "imagetest:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, dockerfile, target, stage, stageRoot, imageRoot string) error {
	file, err := os.Open(dockerfile)
	if err != nil {
		return err
	}
	defer file.Close()
	lines, err := readCopyLines(file, target)
	if err != nil {
		return fmt.Errorf("%s: %w", dockerfile, err)
	}
	for _, line := range lines {
		if line.stage != stage {
			return fmt.Errorf("%s: %s: only the root of %s is given", dockerfile, line.text, stage)
		}
		if err := line.run(ctx, stageRoot, imageRoot); err != nil {
			return err
		}
		fmt.Println(line.text)
	}
	return nil
}
