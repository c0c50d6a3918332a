(** KJ-Thm13: for which margins gamma and distances Delta of thresholds a margin loss bounds the absolute error of the label. *)

From Simopt Require Import Spaces.
Open Scope R_scope.

(** * Definitions *)

(** Labels 1, ..., r with thresholds b_2, ..., b_r, at least Delta apart; f has the label y if it lies in [b_y, b_(y+1)). *)
Definition spaced (r : nat) (delta : R) (b : nat -> R) : Prop := forall j, (2 <= j)%nat -> (j < r)%nat -> b j + delta <= b (S j).
Definition label (r y : nat) : Prop := (1 <= y <= r)%nat.
Definition label_of (r : nat) (b : nat -> R) (f : R) (y : nat) : Prop := label r y /\ ((2 <= y)%nat -> b y <= f) /\ ((y < r)%nat -> f < b (S y)).
(** The loss of the score f for the label y, at the thresholds on both its sides. *)
Definition margin_loss (r : nat) (gamma : R) (b : nat -> R) (f : R) (y : nat) : R :=
  (if 2 <=? y then hinge (gamma + b y - f) else 0) + (if y <? r then hinge (f - b (S y) + gamma) else 0).
(** |y' - y|; and psi_Delta(x) = (x + Delta - 1) / Delta, with Delta and x in units of max(gamma, 1). *)
Definition apart (y y' : nat) : R := Rabs (INR y' - INR y).
Definition psi (delta x : R) : R := (x + delta - 1) / delta.
Definition larger (gamma : R) : R := Rmax gamma 1.

(** A world of finitely many scores with labels and masses, and means over it. *)
Record scored := Scored { mass : R; score : R; truth : nat }.
Definition mean_over (l : list scored) (g : R -> nat -> R) : R := sum (map (fun a => mass a * g (score a) (truth a)) l).
Definition is_world (r : nat) (l : list scored) : Prop := (forall a, In a l -> 0 <= mass a /\ label r (truth a)) /\ mean_over l (fun _ _ => 1) = 1.

(** A learner gives chances to the labels; the absolute error that is to be expected of it. *)
Definition chances (r : nat) (p : nat -> R) : Prop := (forall y, 0 <= p y) /\ sum (map p (seq 1 r)) = 1.
Definition expected_error (r : nat) (p : nat -> R) (y : nat) : R := sum (map (fun y' => p y' * apart y y') (seq 1 r)).

(** * The labels that scores have, for gamma >= 1 *)

Lemma psi_is delta gamma h : 0 < delta -> psi (delta / larger gamma) (h / larger gamma) = 1 + (h - larger gamma) / delta.
Proof. intros D. assert (1 <= larger gamma) by apply Rmax_r. unfold psi. field. lra. Qed.

Lemma hinges_positive r gamma b f y : 0 <= (if 2 <=? y then hinge (gamma + b y - f) else 0) /\ 0 <= (if y <? r then hinge (f - b (S y) + gamma) else 0).
Proof. split; [destruct (2 <=? y) | destruct (y <? r)]; try apply hinge_positive; apply Rle_refl. Qed.

Lemma spaced_apart r delta b : spaced r delta b -> forall k j, (2 <= j)%nat -> (j + k <= r)%nat -> b j + INR k * delta <= b (j + k)%nat.
Proof.
  intros H k. induction k as [|k IH]; intros j J K; [rewrite Nat.add_0_r; simpl; lra|]. rewrite Nat.add_succ_r, S_INR.
  generalize (IH j J ltac:(lia)) (H (j + k)%nat ltac:(lia) ltac:(lia)). lra.
Qed.

Lemma wrong_by r delta gamma b f y y' : 0 <= delta -> spaced r delta b -> label r y -> label_of r b f y' -> y <> y' ->
  gamma + (apart y y' - 1) * delta <= margin_loss r gamma b f y.
Proof.
  intros D H Y [Y' [L U]] N. destruct (hinges_positive r gamma b f y) as [P Q]. unfold margin_loss, apart, label in *.
  destruct (Nat.lt_ge_cases y y') as [C|C].
  - set (k := (y' - S y)%nat). assert (E : (y' = S y + k)%nat) by (unfold k; lia).
    generalize (spaced_apart r delta b H k (S y) ltac:(lia) ltac:(lia)) (L ltac:(lia)). rewrite <- E. intros B F.
    destruct (Nat.ltb_spec y r) as [_|]; [|lia]. rewrite E, plus_INR, S_INR. replace (INR y + 1 + INR k - INR y) with (INR k + 1) by ring.
    rewrite Rabs_right by (generalize (pos_INR k); lra). generalize (hinge_above (f - b (S y) + gamma)). lra.
  - set (k := (y - S y')%nat). assert (E : (y = S y' + k)%nat) by (unfold k; lia).
    generalize (spaced_apart r delta b H k (S y') ltac:(lia) ltac:(lia)) (U ltac:(lia)). rewrite <- E. intros B F.
    destruct (Nat.leb_spec 2 y) as [_|]; [|lia]. replace (INR y' - INR y) with (- (INR k + 1)) by (rewrite E, plus_INR, S_INR; ring).
    rewrite Rabs_Ropp, Rabs_right by (generalize (pos_INR k); lra). generalize (hinge_above (gamma + b y - f)). lra.
Qed.

(** Scores that are far inside their label's interval lose nothing. *)
Lemma far_inside gamma b f : f + gamma <= b 2%nat -> forall r, margin_loss r gamma b f 1 = 0.
Proof.
  intros F r. unfold margin_loss. cbn [Nat.leb]. destruct (1 <? r); [|ring]. rewrite hinge_of_negative by lra. ring.
Qed.

Theorem KJ_Thm13_threshold r delta gamma : (2 <= r)%nat -> 0 < delta -> 1 <= gamma ->
  (forall b f y y', spaced r delta b -> label r y -> label_of r b f y' ->
    apart y y' <= psi (delta / larger gamma) (margin_loss r gamma b f y / larger gamma)) <-> gamma <= delta.
Proof.
  intros R2 D G. assert (U : larger gamma = gamma) by (apply Rmax_left; lra). split.
  - intros H. set (b := fun j : nat => INR j * delta).
    specialize (H b (b 2%nat - gamma) 1%nat 1%nat). rewrite psi_is, far_inside, U in H by (try easy; lra).
    unfold apart in H. replace (INR 1 - INR 1) with 0 in H by ring. rewrite Rabs_R0 in H.
    assert (S : spaced r delta b) by (intros j _ _; unfold b; rewrite S_INR; lra).
    assert (L : label_of r b (b 2%nat - gamma) 1) by (split; [split; lia | split; intros; [exfalso; lia | lra]]).
    specialize (H S ltac:(split; lia) L). apply (Rmult_le_compat_r delta) in H; [|lra].
    replace ((1 + (0 - gamma) / delta) * delta) with (delta - gamma) in H by (field; lra). lra.
  - intros H b f y y' W Y L. rewrite psi_is, U by easy. apply (Rmult_le_reg_r delta); [easy|].
    replace ((1 + (margin_loss r gamma b f y - gamma) / delta) * delta) with (delta + (margin_loss r gamma b f y - gamma)) by (field; lra).
    destruct (Nat.eq_dec y y') as [<-|N].
    + unfold apart. rewrite Rminus_diag_eq, Rabs_R0 by reflexivity. destruct (hinges_positive r gamma b f y). unfold margin_loss. lra.
    + generalize (wrong_by r delta gamma b f y y' ltac:(lra) W Y L N). lra.
Qed.

(** * Learners that give chances, for all gamma *)

(** The chances of the two labels next to a score s between 0 and r - 1, label y standing at y - 1: in the mean they are wrong by |s - (y - 1)|. *)
Definition tent (s : R) (y : nat) : R := hinge (1 - Rabs (s - (INR y - 1))).

Lemma between s r : (2 <= r)%nat -> 0 <= s <= INR r - 1 -> exists k, (1 <= k)%nat /\ (S k <= r)%nat /\ INR k - 1 <= s <= INR k.
Proof.
  intros R2 H. induction r as [|r IH]; [lia|]. rewrite S_INR in H. destruct (Nat.eq_dec r 1) as [->|N].
  - exists 1%nat. cbn [INR] in *. split; [lia|]. split; [lia | lra].
  - destruct (Rle_lt_dec s (INR r - 1)) as [L|L].
    + destruct IH as [k [A [B C]]]; [lia | lra|]. exists k. split; [easy|]. split; [lia | easy].
    + exists r. split; [lia|]. split; [lia | lra].
Qed.

Lemma over_tent s r k g : (1 <= k)%nat -> (S k <= r)%nat -> INR k - 1 <= s <= INR k ->
  sum (map (fun y => tent s y * g y) (seq 1 r)) = (INR k - s) * g k + (s - (INR k - 1)) * g (S k).
Proof.
  intros A B C. rewrite <- (sum_single (fun y => (INR k - s) * g y) k (seq 1 r)), <- (sum_single (fun y => (s - (INR k - 1)) * g y) (S k) (seq 1 r))
    by (try apply seq_NoDup; apply in_seq; lia).
  rewrite <- sum_add. apply sum_ext. intros y _. unfold tent. destruct (Nat.eqb_spec y k) as [->|N].
  - destruct (Nat.eqb_spec k (S k)); [lia|]. rewrite Rabs_right, hinge_of_positive by lra. ring.
  - destruct (Nat.eqb_spec y (S k)) as [->|N'].
    + rewrite S_INR, Rabs_left1, hinge_of_positive by lra. ring.
    + rewrite hinge_of_negative; [ring|]. destruct (Nat.lt_ge_cases y k) as [L|L].
      * apply lt_le_S, le_INR in L. rewrite S_INR in L. rewrite Rabs_right; lra.
      * assert (M : (S (S k) <= y)%nat) by lia. apply le_INR in M. rewrite !S_INR in M. rewrite Rabs_left1; lra.
Qed.

Lemma tent_chances s r : (2 <= r)%nat -> 0 <= s <= INR r - 1 -> chances r (tent s).
Proof.
  intros R2 H. destruct (between s r R2 H) as [k [A [B C]]]. split; [intros y; apply hinge_positive|].
  rewrite (sum_ext _ (fun y => tent s y * 1)) by (intros; ring). rewrite (over_tent s r k) by easy. ring.
Qed.

Lemma tent_error s r y : (2 <= r)%nat -> 0 <= s <= INR r - 1 -> expected_error r (tent s) y = Rabs (s - (INR y - 1)).
Proof.
  intros R2 H. destruct (between s r R2 H) as [k [A [B C]]]. unfold expected_error. rewrite (over_tent s r k) by easy. unfold apart. rewrite S_INR.
  destruct (Nat.lt_ge_cases k y) as [L|L].
  - apply lt_le_S, le_INR in L. rewrite S_INR in L. rewrite !Rabs_left1 by lra. ring.
  - apply le_INR in L. rewrite !Rabs_right by lra. ring.
Qed.

(** The score: the largest label less alpha and kappa times what it loses at its lower threshold. *)
Section Score.
Context (r : nat) (gamma delta : R) (r_two : (2 <= r)%nat) (gamma_positive : 0 < gamma) (delta_positive : 0 < delta).
Context (far : larger gamma <= delta) (near : 2 * (larger gamma - gamma) <= delta) (b : nat -> R) (apart_b : spaced r delta b) (f : R).
Let alpha : R := 1 - larger gamma / delta.
Let level (y : nat) : R := INR y - 1 - alpha - hinge (gamma + b y - f) / delta.
Fixpoint top (n : nat) : R := match n with S m => if 1 <=? m then Rmax (top m) (level (S m)) else 0 | O => 0 end.

Let alpha_between : 0 <= alpha <= 1.
Proof.
  assert (1 <= larger gamma) by apply Rmax_r. assert (0 <= larger gamma / delta <= 1); [|unfold alpha; lra].
  split; [apply Rmult_le_pos; [lra | left; now apply Rinv_0_lt_compat]|]. apply (Rmult_le_reg_r delta); [easy|]. unfold Rdiv.
    rewrite Rmult_assoc, Rinv_l; lra.
Qed.

Let level_small y : level y <= INR y - 1 - alpha.
Proof.
  assert (0 <= hinge (gamma + b y - f) / delta) by (apply Rmult_le_pos; [apply hinge_positive | left; now apply Rinv_0_lt_compat]). unfold level. lra.
Qed.

Lemma top_between n : (1 <= n)%nat -> 0 <= top n <= INR n - 1.
Proof.
  induction n as [|n IH]; intros N; [lia|]. cbn [top]. destruct (Nat.leb_spec 1 n) as [L|L].
  - specialize (IH L). rewrite S_INR. generalize (Rmax_l (top n) (level (S n))) (level_small (S n)). rewrite S_INR. intros. split; [lra|].
    apply Rmax_lub; lra.
  - replace n with 0%nat by lia. simpl. lra.
Qed.

Lemma top_above n y : (2 <= y)%nat -> (y <= n)%nat -> level y <= top n.
Proof.
  intros Y. induction n as [|n IH]; intros N; [lia|]. cbn [top]. destruct (Nat.leb_spec 1 n) as [L|L]; [|lia].
  destruct (Nat.eq_dec y (S n)) as [->|M]; [apply Rmax_r|]. apply Rle_trans with (top n); [apply IH; lia | apply Rmax_l].
Qed.

Lemma top_is n : top n = 0 \/ exists y, (2 <= y)%nat /\ (y <= n)%nat /\ top n = level y.
Proof.
  induction n as [|n IH]; [now left|]. cbn [top]. destruct (Nat.leb_spec 1 n) as [L|L]; [|now left].
  unfold Rmax. destruct (Rle_dec (top n) (level (S n))).
  - right. exists (S n). split; [lia|]. now split.
  - destruct IH as [IH|[y [A [B C]]]]; [now left|]. right. exists y. split; [easy|]. split; [lia | easy].
Qed.

Lemma top_error y : label r y -> Rabs (top r - (INR y - 1)) <= 1 + (margin_loss r gamma b f y - larger gamma) / delta.
Proof.
  intros [Y1 Y2]. destruct (hinges_positive r gamma b f y) as [P Q]. apply le_INR in Y1 as Y3. cbn [INR] in Y3.
  assert (I : 0 < / delta) by now apply Rinv_0_lt_compat.
  set (low := if 2 <=? y then hinge (gamma + b y - f) else 0) in *. set (up := if y <? r then hinge (f - b (S y) + gamma) else 0) in *.
  assert (E : 1 + (margin_loss r gamma b f y - larger gamma) / delta = alpha + (low / delta + up / delta)) by (unfold margin_loss, alpha; fold low up;
  field; lra).
  rewrite E. assert (P' : 0 <= low / delta) by (apply Rmult_le_pos; lra). assert (Q' : 0 <= up / delta) by (apply Rmult_le_pos; lra).
  generalize (top_between r ltac:(lia)). intros T. apply Rabs_le. split.
  - destruct (Nat.leb_spec 2 y) as [L|L].
    + generalize (top_above r y L Y2). unfold level. fold low. lra.
    + assert (y = 1%nat) by lia. subst y. cbn [INR]. lra.
  - destruct (top_is r) as [Z|[y' [A [B C]]]]; [lra|]. destruct (Nat.lt_ge_cases y y') as [L|L].
    + rewrite C. unfold level. set (k := (y' - S y)%nat). assert (K : (y' = S y + k)%nat) by (unfold k; lia).
      generalize (spaced_apart r delta b apart_b k (S y) ltac:(lia) ltac:(lia)). rewrite <- K. intros S.
      assert (U : up = hinge (f - b (Datatypes.S y) + gamma)) by (unfold up; destruct (Nat.ltb_spec y r); [easy | lia]).
      generalize (hinge_above (gamma + b y' - f)) (hinge_above (f - b (Datatypes.S y) + gamma)). rewrite <- U. intros H1 H2.
      set (h := hinge (gamma + b y' - f)) in *. assert (M : 2 * gamma + INR k * delta <= h + up) by lra.
      apply (Rmult_le_compat_r (/ delta)) in M; [|lra].
      replace ((2 * gamma + INR k * delta) * / delta) with (2 * gamma / delta + INR k) in M by (field; lra).
      assert (V : 2 * (larger gamma / delta) <= 1 + 2 * gamma / delta).
      { apply (Rmult_le_reg_r delta); [easy|]. replace (2 * (larger gamma / delta) * delta) with (2 * larger gamma) by (field; lra).
        replace ((1 + 2 * gamma / delta) * delta) with (delta + 2 * gamma) by (field; lra). lra. }
      rewrite K, plus_INR, S_INR. unfold alpha. unfold Rdiv in *. lra.
    + rewrite C. generalize (level_small y'). apply le_INR in L. lra.
Qed.
End Score.

(** There is a learner whose error is bounded so in every world, and for all scores and thresholds, if and only if Delta is large enough. *)
Theorem KJ_Thm13b_where r delta gamma : (2 <= r)%nat -> 0 < delta -> 0 < gamma ->
  (exists learner : (nat -> R) -> R -> nat -> R, forall b, spaced r delta b -> (forall f, chances r (learner b f)) /\
    forall l, is_world r l -> mean_over l (fun f y => expected_error r (learner b f) y) <=
    psi (delta / larger gamma) (mean_over l (margin_loss r gamma b) / larger gamma)) <->
  larger gamma <= delta /\ 2 * (larger gamma - gamma) <= delta.
Proof.
  intros R2 D G. split.
  - intros [learner H]. set (b := fun j : nat => INR j * (delta + gamma)).
    assert (S : spaced r delta b) by (intros j _ _; unfold b; rewrite S_INR; lra). destruct (H b S) as [C W]. split.
    + specialize (W [Scored 1 (b 2%nat - gamma) 1]). rewrite psi_is in W by easy. unfold mean_over, sum in W. cbn [map fold_right mass score truth] in W.
      rewrite far_inside in W by lra.
      assert (E : 0 <= expected_error r (learner b (b 2%nat - gamma)) 1).
      { apply sum_nonnegative. intros y _. apply Rmult_le_pos; [apply C | apply Rabs_pos]. }
      assert (V : is_world r [Scored 1 (b 2%nat - gamma) 1]).
      { split; [intros a [<-|[]]; cbn; split; [lra | split; lia] | unfold mean_over, sum; cbn; ring]. }
      specialize (W V). assert (Z : 0 <= 1 + (0 - larger gamma) / delta) by lra. apply (Rmult_le_compat_r delta) in Z; [|lra].
      replace ((1 + (0 - larger gamma) / delta) * delta) with (delta - larger gamma) in Z by (field; lra). lra.
    + set (f := b 2%nat). set (l := [Scored (1 / 2) f 1; Scored (1 / 2) f 2]). specialize (W l). rewrite psi_is in W by easy.
      assert (V : is_world r l).
      { split; [intros a [<-|[<-|[]]]; cbn; (split; [lra | split; lia]) | unfold l, mean_over, sum; cbn; field]. }
      specialize (W V). unfold l, mean_over, sum in W. cbn [map fold_right mass score truth] in W.
      assert (L1 : margin_loss r gamma b f 1 = gamma).
      { unfold margin_loss. cbn [Nat.leb]. destruct (Nat.ltb_spec 1 r); [|lia]. rewrite hinge_of_positive by (unfold f; lra). unfold f. ring. }
      assert (L2 : margin_loss r gamma b f 2 = gamma).
      { unfold margin_loss. cbn [Nat.leb]. rewrite hinge_of_positive by (unfold f; lra). destruct (2 <? r); [|unfold f; ring].
        rewrite hinge_of_negative; unfold f, b; cbn [INR]; lra. }
      rewrite L1, L2 in W.
      assert (T : 1 <= expected_error r (learner b f) 1 + expected_error r (learner b f) 2).
      { destruct (C f) as [P Q]. unfold expected_error. rewrite <- sum_add, <- Q at 1. apply sum_le. intros y _.
        assert (A : 1 <= apart 1 y + apart 2 y).
        { unfold apart. cbn [INR]. generalize (Rle_abs (INR y - 1)) (Rle_abs (- (INR y - (1 + 1)))). rewrite Rabs_Ropp. lra. }
        generalize (P y). intros. nra. }
      assert (Z : 1 / 2 <= 1 + (gamma - larger gamma) / delta) by lra. apply (Rmult_le_compat_r delta) in Z; [|lra].
      replace ((1 + (gamma - larger gamma) / delta) * delta) with (delta + (gamma - larger gamma)) in Z by (field; lra). lra.
  - intros [F N]. exists (fun b f => tent (top gamma delta b f r)). intros b S.
    assert (T : forall f, 0 <= top gamma delta b f r <= INR r - 1) by (intros f; apply (top_between r); try easy; lia).
    split; [intros f; now apply tent_chances|]. intros l [P Q]. rewrite psi_is by easy.
    apply Rle_trans with (mean_over l (fun f y => 1 + (margin_loss r gamma b f y - larger gamma) / delta)).
    + apply sum_le. intros a A. destruct (P a A) as [M Y]. apply Rmult_le_compat_l; [easy|]. rewrite tent_error by easy.
      now apply top_error.
    + apply Req_le. unfold mean_over in *. rewrite (sum_ext _ (fun a => (1 - larger gamma / delta) * (mass a * 1) + / delta * (mass a * margin_loss r
      gamma b (score a) (truth a)))).
      * rewrite sum_add, !sum_scale, Q. field. lra.
      * intros a _. field. lra.
Qed.
