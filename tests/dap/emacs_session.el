;; A session of dap-mode: enter, step, stop at line 5, step back, evaluate, run to the end.
;; Arguments: the configuration to load, and the program.
(package-initialize)
(pcase-let ((`(,configuration ,program) command-line-args-left))
  (setq command-line-args-left nil
        dap-auto-configure-mode nil
        dap-auto-show-output nil
        lsp-session-file (concat program ".lsp")
        dap-breakpoints-file (concat program ".breakpoints"))
  (load configuration nil t)
  (find-file program))

(defvar stops 0)
(add-hook 'dap-stopped-hook (lambda (_) (setq stops (1+ stops))))

(defun session () (dap--cur-session))

(defun wait-for (test)
  (let ((until (+ (float-time) 300)))
    (while (not (funcall test))
      (when (> (float-time) until) (error "Nothing came"))
      (accept-process-output nil 0.05))))

(defun tell-stop (number)
  (wait-for (lambda () (and (>= stops number) (dap--debug-session-active-frame (session)))))
  (message "stop %d: %s" number (gethash "name" (dap--debug-session-active-frame (session)))))

(let ((program (current-buffer)))
  (dap-debug (list :type "gradstep" :request "launch" :name "backward()"))
  (tell-stop 1)
  (dap-next (session))
  (tell-stop 2)
  (with-current-buffer program
    (goto-char (point-min))
    (forward-line 4)
    (dap-breakpoint-add))
  (dap-continue (session) (dap--debug-session-thread-id (session)))
  (tell-stop 3)
  (gradstep-step-back (session))
  (tell-stop 4)
  (dap-eval "w")
  (with-current-buffer program (dap-breakpoint-delete-all))
  (accept-process-output nil 1)
  (dap-continue (session) (dap--debug-session-thread-id (session)))
  (wait-for (lambda () (not (dap--session-running (session)))))
  (with-current-buffer (dap--debug-session-output-buffer (session))
    (message "%s" (buffer-string))))
